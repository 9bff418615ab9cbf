// Parts of values: attributes, items, slices, and what a loop walks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

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

Value loop_attribute(const Loop& loop, const std::string& name) {
  const auto count = static_cast<int64_t>(loop.items->items.size()), index = static_cast<int64_t>(loop.index);
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(count - index);
  if (name == "revindex0") return Value(count - index - 1);
  if (name == "first") return Value(index == 0);
  if (name == "last") return Value(index + 1 == count);
  if (name == "length") return Value(count);
  if (name == "depth") return Value(int64_t{loop.depth0 + 1});
  if (name == "depth0") return Value(int64_t{loop.depth0});
  if (name == "previtem" && index > 0) return loop.items->items[loop.index - 1];
  if (name == "nextitem" && index + 1 < count) return loop.items->items[loop.index + 1];
  return Value(Undefined{"loop." + name});
}

}  // namespace

Result<Value> get_attribute(const Value& object, const std::string& name) {
  if (has_method(object, name)) return Value(Method{std::make_shared<const Value>(object), name});
  if (const Dict* dict = object.dict()) {
    const Value* value = dict->find(name);
    return value ? *value : Value(Undefined{name});
  }
  if (const Loop* loop = object.loop()) return loop_attribute(*loop, name);
  if (object.list() && object.list()->form == Form::group && (name == "grouper" || name == "list"))
    return object.list()->items[name == "grouper" ? 0 : 1];
  if (object.is_undefined())
    return render_error(fmt::format("\"{}\" is undefined and has no \"{}\"", object.undefined_name(), name));
  return Value(Undefined{name});
}

Result<Value> get_item(const Value& object, const Value& key, Budget& budget) {
  int64_t storage = 0;
  if (const Value* item = object.dict() ? object.dict()->find(key) : nullptr) return *item;
  if (key.string()) return get_attribute(object, *key.string());
  const int64_t* index = key.as_integer(storage);
  if (index && object.list() && object.list()->form != Form::generator) {
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
  if (object.is_undefined())
    return render_error(fmt::format("\"{}\" is undefined and has no items", object.undefined_name()));
  if (const List* list = object.list(); list && list->form != Form::generator) {
    const auto count = static_cast<int64_t>(list->items.size());
    ORRERY_TRY(budget.step(count / 8));
    const Range range = slice_range(from, to, stride, count);
    std::vector<Value> items;
    for (int64_t i = range.start; stride > 0 ? i < range.stop : i > range.stop;) {
      items.push_back(list->items[static_cast<size_t>(i)]);
      if (__builtin_add_overflow(i, stride, &i)) break;
    }
    return budget.list(std::move(items), list->form);
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
    for (const auto& item : dict->items()) list->items.push_back(value_of(item.first));
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

Result<int64_t> length_of(const Value& value, Budget& budget) {
  if (const std::string* text = value.string()) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(text->size() / 256)));
    return static_cast<int64_t>(count_code_points(*text));
  }
  if (value.list() && value.list()->form != Form::generator)
    return static_cast<int64_t>(value.list()->items.size());
  if (value.dict() && !value.dict()->is_namespace) return static_cast<int64_t>(value.dict()->items().size());
  if (value.is_undefined()) return int64_t{0};
  return render_error(fmt::format("a {} has no length", value.list() ? "generator" : value.type_name()));
}

}  // namespace orrery::text::jinja
