#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

Error bad_operands(std::string_view op, const Value& a, const Value& b) {
  const auto name = [](const Value& value) {
    return value.is_undefined() ? "\"" + value.undefined_name() + "\", which is undefined"
                                : std::string(value.type_name());
  };
  return render_error(fmt::format("\"{}\" does not work between {} and {}", op, name(a), name(b)));
}

Result<Value> overflow() { return render_error("a number grows beyond 64 bits"); }

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

Result<Value> integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  int64_t result = 1;
  for (int64_t i = 0; i < exponent && result != 0 && !(base == 1); ++i) {
    if (base == -1) return Value(int64_t{exponent % 2 ? -1 : 1});
    if (__builtin_mul_overflow(result, base, &result)) return overflow();
  }
  return Value(result);
}

Result<Value> integer_arithmetic(std::string_view op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (op == "+") return __builtin_add_overflow(a, b, &result) ? overflow() : Value(result);
  if (op == "-") return __builtin_sub_overflow(a, b, &result) ? overflow() : Value(result);
  if (op == "*") return __builtin_mul_overflow(a, b, &result) ? overflow() : Value(result);
  if (op == "**") return integer_power(a, b);
  if (b == 0) return render_error("division by zero");
  if (op == "/") return Value(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) return op == "%" ? Value(int64_t{0}) : integer_arithmetic("-", 0, a);
  if (op == "//") return Value(floor_divide(a, b));
  return Value(a - floor_divide(a, b) * b);
}

Result<Value> real_arithmetic(std::string_view op, double a, double b) {
  if (op == "+") return Value(a + b);
  if (op == "-") return Value(a - b);
  if (op == "*") return Value(a * b);
  if (op == "**") return Value(std::pow(a, b));
  if (b == 0) return render_error("division by zero");
  if (op == "/") return Value(a / b);
  if (op == "//") return Value(std::floor(a / b));
  return Value(a - std::floor(a / b) * b);
}

Result<Value> repeat(const Value& value, int64_t times, Budget& budget) {
  times = std::max<int64_t>(times, 0);
  const size_t size = value.string() ? value.string()->size() : value.list()->items.size();
  if (size > 0 && static_cast<uint64_t>(times) > Budget::kLongest / size)
    return limit_error("a value is repeated too often");
  if (value.string()) {
    ORRERY_TRY(budget.make(size * static_cast<size_t>(times)));
    std::string text;
    for (int64_t i = 0; i < times && size > 0; ++i) text += *value.string();
    return Value(std::move(text));
  }
  ORRERY_TRY(budget.step(static_cast<int64_t>(size) * times));
  std::vector<Value> items;
  for (int64_t i = 0; i < times && size > 0; ++i)
    items.insert(items.end(), value.list()->items.begin(), value.list()->items.end());
  return budget.list(std::move(items));
}

Result<Value> concatenate(const Value& a, const Value& b, Budget& budget) {
  ORRERY_ASSIGN(std::string left, to_text(a, budget));
  ORRERY_ASSIGN(const std::string right, to_text(b, budget));
  ORRERY_TRY(budget.make(left.size() + right.size()));
  return Value(left + right);
}

Result<bool> contains(const Value& item, const Value& container, Budget& budget) {
  if (const std::string* text = container.string()) {
    if (!item.string()) return bad_operands("in", item, container);
    ORRERY_TRY(budget.step(static_cast<int64_t>(text->size() / 256)));
    return text->find(*item.string()) != std::string::npos;
  }
  if (const List* list = container.list()) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(list->items.size())));
    return std::any_of(list->items.begin(), list->items.end(),
                       [&](const Value& other) { return equal(item, other, budget); });
  }
  if (const Dict* dict = container.dict()) return item.string() && dict->find(*item.string());
  if (container.is_undefined()) return false;
  return bad_operands("in", item, container);
}

/// Byte offset of each code point, and the end.
std::vector<size_t> code_point_offsets(const std::string& text) {
  std::vector<size_t> offsets;
  for (size_t i = 0; i < text.size(); i += code_point_at(text, i).bytes) offsets.push_back(i);
  offsets.push_back(text.size());
  return offsets;
}

struct Range {
  int64_t start, stop, step;
};
/// Python's rules for the parts of a slice over `length` items.
Range slice_range(const int64_t* start, const int64_t* stop, int64_t step, int64_t length) {
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  const auto place = [&](const int64_t* part, int64_t fallback) {
    if (!part) return fallback;
    const int64_t index = *part < 0 ? (*part < -length ? -1 - length : *part) + length : *part;
    return std::clamp(index, low, high);
  };
  return {place(start, step < 0 ? high : low), place(stop, step < 0 ? low : high), step};
}

Result<Value> loop_attribute(const Loop& loop, const std::string& name) {
  const auto count = static_cast<int64_t>(loop.items->items.size()), index = static_cast<int64_t>(loop.index);
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(count - index);
  if (name == "revindex0") return Value(count - index - 1);
  if (name == "first") return Value(index == 0);
  if (name == "last") return Value(index + 1 == count);
  if (name == "length") return Value(count);
  // Depth counts recursive loops, which there are none of.
  if (name == "depth") return Value(int64_t{1});
  if (name == "depth0") return Value(int64_t{0});
  if (name == "previtem" && index > 0) return loop.items->items[loop.index - 1];
  if (name == "nextitem" && index + 1 < count) return loop.items->items[loop.index + 1];
  return Value(Undefined{"loop." + name});
}

}  // namespace

bool equal(const Value& a, const Value& b, Budget& budget, int depth) {
  // Lists that share their items would be walked very often: the walk counts, and the next step then fails.
  if (depth > Budget::kDeepest || --budget.steps < 0) return false;
  double x = 0, y = 0;
  int64_t s = 0, t = 0;
  if (const int64_t* i = a.as_integer(s), *j = b.as_integer(t); i && j) return *i == *j;
  if (a.as_number(x) && b.as_number(y)) return x == y;
  if (a.string() && b.string()) return *a.string() == *b.string();
  if (a.list() && b.list())
    return std::equal(a.list()->items.begin(), a.list()->items.end(), b.list()->items.begin(),
                      b.list()->items.end(),
                      [&](const Value& u, const Value& v) { return equal(u, v, budget, depth + 1); });
  if (a.dict() && b.dict()) {
    if (a.dict() == b.dict()) return true;
    if (a.dict()->items.size() != b.dict()->items.size()) return false;
    return std::all_of(a.dict()->items.begin(), a.dict()->items.end(), [&](const auto& item) {
      const Value* other = b.dict()->find(item.first);
      return other && equal(item.second, *other, budget, depth + 1);
    });
  }
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

Result<Value> binary(std::string_view op, const Value& a, const Value& b, Budget& budget) {
  if (op == "~") return concatenate(a, b, budget);
  int64_t s = 0, t = 0;
  const int64_t *i = a.as_integer(s), *j = b.as_integer(t);
  if (i && j) return integer_arithmetic(op, *i, *j);
  double x = 0, y = 0;
  if (a.as_number(x) && b.as_number(y)) return real_arithmetic(op, x, y);
  if (op == "+" && a.string() && b.string()) return concatenate(a, b, budget);
  if (op == "+" && a.list() && b.list()) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(a.list()->items.size() + b.list()->items.size())));
    std::vector<Value> items = a.list()->items;
    items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
    return budget.list(std::move(items));
  }
  if (op == "*" && (a.string() || a.list()) && j) return repeat(a, *j, budget);
  if (op == "*" && (b.string() || b.list()) && i) return repeat(b, *i, budget);
  return bad_operands(op, a, b);
}

Result<bool> compare(std::string_view op, const Value& a, const Value& b, Budget& budget) {
  if (op == "in") return contains(a, b, budget);
  if (op == "not in") {
    ORRERY_ASSIGN(const bool found, contains(a, b, budget));
    return !found;
  }
  ORRERY_TRY(budget.step(static_cast<int64_t>((a.string() ? a.string()->size() : 0) / 4096)));
  if (op == "==") return equal(a, b, budget);
  if (op == "!=") return !equal(a, b, budget);
  double x = 0, y = 0;
  int order = 0;
  if (a.as_number(x) && b.as_number(y)) {
    order = x < y ? -1 : x > y ? 1 : 0;
  } else if (a.string() && b.string()) {
    order = a.string()->compare(*b.string());
  } else {
    return bad_operands(op, a, b);
  }
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

Result<Value> get_attribute(const Value& object, const std::string& name) {
  if (const Dict* dict = object.dict()) {
    const Value* value = dict->find(name);
    return value ? *value : Value(Undefined{name});
  }
  if (const Loop* loop = object.loop()) return loop_attribute(*loop, name);
  if (object.is_undefined())
    return render_error(fmt::format("\"{}\" is undefined and has no \"{}\"", object.undefined_name(), name));
  return Value(Undefined{name});
}

Result<Value> get_item(const Value& object, const Value& key, Budget& budget) {
  int64_t storage = 0;
  if (key.string()) return get_attribute(object, *key.string());
  const int64_t* index = key.as_integer(storage);
  if (index && object.list()) {
    const auto count = static_cast<int64_t>(object.list()->items.size());
    const int64_t at = *index < 0 ? *index + count : *index;
    if (at >= 0 && at < count) return object.list()->items[static_cast<size_t>(at)];
  } else if (index && object.string()) {
    const int64_t next = *index + 1;
    const Value start(*index), stop(next);
    return get_slice(object, &start, *index == -1 ? nullptr : &stop, nullptr, budget);
  }
  if (object.is_undefined())
    return render_error(fmt::format("\"{}\" is undefined and has no items", object.undefined_name()));
  return Value(Undefined{"item"});
}

Result<Value> get_slice(const Value& object, const Value* start, const Value* stop, const Value* step,
                        Budget& budget) {
  int64_t storage[3] = {0, 0, 0};
  const auto part = [](const Value* value, int64_t& place) {
    return value ? value->as_integer(place) : nullptr;
  };
  const int64_t *from = part(start, storage[0]), *to = part(stop, storage[1]), *by = part(step, storage[2]);
  const int64_t stride = by ? *by : 1;
  if (stride == 0 || stride == std::numeric_limits<int64_t>::min())
    return render_error("a slice needs another step");
  if (const List* list = object.list()) {
    const auto count = static_cast<int64_t>(list->items.size());
    ORRERY_TRY(budget.step(count / 8));
    const Range range = slice_range(from, to, stride, count);
    std::vector<Value> items;
    for (int64_t i = range.start; stride > 0 ? i < range.stop : i > range.stop;) {
      items.push_back(list->items[static_cast<size_t>(i)]);
      if (__builtin_add_overflow(i, stride, &i)) break;
    }
    return budget.list(std::move(items));
  }
  if (!object.string()) return render_error(fmt::format("a {} cannot be sliced", object.type_name()));
  ORRERY_TRY(budget.step(static_cast<int64_t>(object.string()->size() / 256)));
  const std::vector<size_t> offsets = code_point_offsets(*object.string());
  const Range range = slice_range(from, to, stride, static_cast<int64_t>(offsets.size()) - 1);
  std::string text;
  for (int64_t i = range.start; stride > 0 ? i < range.stop : i > range.stop;) {
    const auto at = static_cast<size_t>(i);
    text.append(*object.string(), offsets[at], offsets[at + 1] - offsets[at]);
    if (__builtin_add_overflow(i, stride, &i)) break;
  }
  return budget.text(std::move(text));
}

Result<std::shared_ptr<const List>> iterate(const Value& value, Budget& budget) {
  auto list = std::make_shared<List>();
  if (const List* items = value.list()) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(items->items.size() / 8)));
    *list = *items;
  } else if (const Dict* dict = value.dict()) {
    for (const auto& item : dict->items) list->items.emplace_back(item.first);
  } else if (const std::string* text = value.string()) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(text->size())));
    for (size_t i = 0; i < text->size();) {
      const size_t bytes = code_point_at(*text, i).bytes;
      list->items.emplace_back(text->substr(i, bytes));
      i += bytes;
    }
  } else if (!value.is_undefined()) {
    return render_error(fmt::format("a {} cannot be walked by a loop", value.type_name()));
  }
  return std::shared_ptr<const List>(std::move(list));
}

}  // namespace orrery::text::jinja
