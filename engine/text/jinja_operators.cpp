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
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return Value(rest);
  return Value(std::round((a - rest) / b));
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
  return budget.list(std::move(items), value.list()->form);
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
  if (const Dict* dict = container.dict()) return dict->find(item) != nullptr;
  if (container.is_undefined()) return false;
  return bad_operands("in", item, container);
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
    return a.list()->form == b.list()->form &&
           std::equal(a.list()->items.begin(), a.list()->items.end(), b.list()->items.begin(),
                      b.list()->items.end(),
                      [&](const Value& u, const Value& v) { return equal(u, v, budget, depth + 1); });
  if (a.dict() && b.dict()) {
    if (a.dict() == b.dict()) return true;
    if (a.dict()->items().size() != b.dict()->items().size()) return false;
    return std::all_of(a.dict()->items().begin(), a.dict()->items().end(), [&](const auto& item) {
      const Value* other = b.dict()->find(item.first);
      return other && equal(item.second, *other, budget, depth + 1);
    });
  }
  return (a.is_undefined() && b.is_undefined()) || a.same_as(b);
}

namespace {

/// -1, 0 or 1: numbers, strings, and lists item by item.
Result<int> ordered(std::string_view op, const Value& a, const Value& b, Budget& budget, int depth) {
  ORRERY_TRY(budget.step());
  if (depth > Budget::kDeepest) return limit_error("values are nested too deeply");
  double x = 0, y = 0;
  if (a.as_number(x) && b.as_number(y)) return x < y ? -1 : x > y ? 1 : 0;
  if (a.string() && b.string()) {
    const int order = a.string()->compare(*b.string());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (!a.list() || !b.list() || a.list()->form != b.list()->form) return bad_operands(op, a, b);
  const std::vector<Value>&left = a.list()->items, &right = b.list()->items;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (equal(left[i], right[i], budget)) continue;
    return ordered(op, left[i], right[i], budget, depth + 1);
  }
  return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

}  // namespace

Result<Value> binary(std::string_view op, const Value& a, const Value& b, Budget& budget) {
  if (op == "~") return concatenate(a, b, budget);
  int64_t s = 0, t = 0;
  const int64_t *i = a.as_integer(s), *j = b.as_integer(t);
  if (i && j) return integer_arithmetic(op, *i, *j);
  double x = 0, y = 0;
  if (a.as_number(x) && b.as_number(y)) return real_arithmetic(op, x, y);
  if (op == "+" && a.string() && b.string()) return concatenate(a, b, budget);
  if (op == "+" && a.list() && b.list() && a.list()->form == b.list()->form) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(a.list()->items.size() + b.list()->items.size())));
    std::vector<Value> items = a.list()->items;
    items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
    return budget.list(std::move(items), a.list()->form);
  }
  if (op == "%" && a.string()) return format_percent(*a.string(), b, budget);
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
  ORRERY_ASSIGN(const int order, ordered(op, a, b, budget, 0));
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

}  // namespace orrery::text::jinja
