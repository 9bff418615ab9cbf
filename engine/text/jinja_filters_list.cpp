#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_filters.h"

namespace orrery::text::jinja {
namespace {

Result<Value> length(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const int64_t count, length_of(value, budget));
  return Value(count);
}

Result<Value> fallback(const Value& value, const Arguments& arguments, Budget&) {
  const bool take = value.is_undefined() || (arguments.flag(1, "boolean", false) && !value.truthy());
  const Value* other = arguments.find(0, "default_value");
  if (!take) return value;
  return other ? *other : Value("");
}

Result<Value> first(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return items->items.empty() ? Value(Undefined{"first"}) : items->items.front();
}

Result<Value> last(const Value& value, const Arguments&, Budget& budget) {
  if (value.list() && value.list()->form == Form::generator)
    return render_error("\"last\" needs a list: put \"|list\" before it");
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return items->items.empty() ? Value(Undefined{"last"}) : items->items.back();
}

Result<Value> list_filter(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return budget.list(items->items);
}

Result<Value> reverse(const Value& value, const Arguments&, Budget& budget) {
  const Value step(int64_t{-1});
  if (value.string()) return get_slice(value, nullptr, nullptr, &step, budget);
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return budget.list({items->items.rbegin(), items->items.rend()}, Form::generator);
}

Result<Value> items_filter(const Value& value, const Arguments&, Budget& budget) {
  if (value.is_undefined()) return Value(std::vector<Value>());
  if (!value.dict()) return render_error(fmt::format("a {} has no items", value.type_name()));
  return call_method(value, "items", {}, budget);
}

Result<Value> attribute_filter(const Value& value, const Arguments& arguments, Budget&) {
  const std::string* name = arguments.string(0, "name");
  if (!name) return render_error("the name of an attribute is missing");
  if (has_method(value, *name) || (value.dict() && value.dict()->is_namespace))
    return get_attribute(value, *name);
  return Value(Undefined{*name});
}

Result<Value> join(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  std::string between;
  if (const Value* separator = arguments.find(0, "d")) {
    ORRERY_ASSIGN(between, to_text(*separator, budget));
  }
  std::string text;
  for (size_t i = 0; i < items->items.size(); ++i) {
    ORRERY_ASSIGN(const Value part, part_of(items->items[i], arguments.find(1, "attribute"), budget));
    ORRERY_ASSIGN(const std::string next, to_text(part, budget));
    ORRERY_TRY(budget.make(next.size() + between.size()));
    ORRERY_TRY(budget.grow(text.size(), next.size() + between.size()));
    text += (i ? between : "") + next;
  }
  return Value(std::move(text));
}

// ---- order

using Keyed = std::vector<std::pair<Value, Value>>;  // what is compared, the item

/// Stable, by merging; ends at the first two keys that cannot be compared.
Result<void> merge_sort(Keyed& entries, Budget& budget) {
  Keyed merged(entries.size());
  for (size_t width = 1; width < entries.size(); width *= 2) {
    for (size_t begin = 0; begin < entries.size(); begin += 2 * width) {
      size_t left = begin, right = std::min(begin + width, entries.size());
      const size_t middle = right, end = std::min(begin + 2 * width, entries.size());
      for (size_t at = begin; at < end; ++at) {
        bool take_right = left == middle;
        if (left < middle && right < end) {
          ORRERY_ASSIGN(take_right, compare("<", entries[right].first, entries[left].first, budget));
        }
        merged[at] = std::move(entries[take_right ? right++ : left++]);
      }
    }
    entries.swap(merged);
  }
  return {};
}

Result<Value> sorted(Keyed entries, bool reversed, Budget& budget) {
  // From the last to the first and back: equal items stay in their order.
  if (reversed) std::reverse(entries.begin(), entries.end());
  ORRERY_TRY(merge_sort(entries, budget));
  if (reversed) std::reverse(entries.begin(), entries.end());
  std::vector<Value> results;
  for (auto& entry : entries) results.push_back(std::move(entry.second));
  return budget.list(std::move(results));
}

/// By an attribute, or by several with commas between.
Result<Value> sort_key(const Value& item, const Value* attribute, bool case_sensitive, Budget& budget) {
  if (!attribute || !attribute->string() || attribute->string()->find(',') == std::string::npos) {
    ORRERY_ASSIGN(const Value part, part_of(item, attribute, budget));
    return comparison_key(part, case_sensitive);
  }
  std::vector<Value> parts;
  const std::string& names = *attribute->string();
  for (size_t begin = 0; begin <= names.size();) {
    const size_t comma = std::min(names.find(',', begin), names.size());
    const Value name(names.substr(begin, comma - begin));
    ORRERY_ASSIGN(const Value part, part_of(item, &name, budget));
    parts.push_back(comparison_key(part, case_sensitive));
    begin = comma + 1;
  }
  return budget.list(std::move(parts));
}

Result<Keyed> keyed(const Value& value, const Value* attribute, bool case_sensitive, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  Keyed entries;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step());
    ORRERY_ASSIGN(Value key, sort_key(item, attribute, case_sensitive, budget));
    entries.emplace_back(std::move(key), item);
  }
  return entries;
}

Result<Value> sort(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(Keyed entries, keyed(value, arguments.find(2, "attribute"),
                                     arguments.flag(1, "case_sensitive", false), budget));
  return sorted(std::move(entries), arguments.flag(0, "reverse", false), budget);
}

Result<Value> dictsort(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!value.dict()) return render_error("dictsort needs a dict");
  const std::string* by = arguments.string(1, "by");
  if (by && *by != "key" && *by != "value") return render_error("dictsort is by \"key\" or \"value\"");
  ORRERY_ASSIGN(const Value pairs, call_method(value, "items", {}, budget));
  const Value part(int64_t{by && *by == "value" ? 1 : 0});
  ORRERY_ASSIGN(Keyed entries, keyed(pairs, &part, arguments.flag(0, "case_sensitive", false), budget));
  return sorted(std::move(entries), arguments.flag(2, "reverse", false), budget);
}

/// Pairs of what the members have in common and the list of them; Jinja calls them grouper and list.
Result<Value> groupby(const Value& value, const Arguments& arguments, Budget& budget) {
  const Value *attribute = arguments.find(0, "attribute"), *otherwise = arguments.find(1, "default");
  if (!attribute) return render_error("groupby needs the name of an attribute");
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const bool case_sensitive = arguments.flag(2, "case_sensitive", false);
  Keyed entries;
  for (const Value& item : items->items) {
    ORRERY_ASSIGN(Value part, part_of(item, attribute, budget));
    if (part.is_undefined() && otherwise) part = *otherwise;
    entries.emplace_back(comparison_key(part, case_sensitive), Value(std::vector<Value>{part, item}));
  }
  ORRERY_TRY(merge_sort(entries, budget));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < entries.size();) {
    std::vector<Value> members;
    size_t end = begin;
    for (; end < entries.size() && equal(entries[begin].first, entries[end].first, budget); ++end)
      members.push_back(entries[end].second.list()->items[1]);
    ORRERY_TRY(budget.step());
    if (end == begin) return render_error("a value cannot be grouped");
    groups.emplace_back(std::vector<Value>{entries[begin].second.list()->items[0], Value(std::move(members))},
                        Form::group);
    begin = end;
  }
  return budget.list(std::move(groups));
}

Result<Value> unique(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const Keyed entries, keyed(value, arguments.find(1, "attribute"),
                                           arguments.flag(0, "case_sensitive", false), budget));
  std::vector<const Value*> seen;
  std::vector<Value> results;
  for (const auto& entry : entries) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(seen.size())));
    const Value& key = entry.first;
    if (std::any_of(seen.begin(), seen.end(), [&](const Value* other) { return equal(key, *other, budget); }))
      continue;
    seen.push_back(&key);
    results.push_back(entry.second);
  }
  return budget.list(std::move(results), Form::generator);
}

template <bool smallest>
Result<Value> extreme(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const Keyed entries, keyed(value, arguments.find(1, "attribute"),
                                           arguments.flag(0, "case_sensitive", false), budget));
  const std::pair<Value, Value>* best = nullptr;
  for (const auto& entry : entries) {
    bool better = best == nullptr;
    if (!better) {
      ORRERY_ASSIGN(better, compare(smallest ? "<" : ">", entry.first, best->first, budget));
    }
    if (better) best = &entry;
  }
  return best ? best->second : Value(Undefined{"extreme"});
}

// ---- sums and parts

Result<Value> sum(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const Value* start = arguments.find(1, "start");
  Value total = start ? *start : Value(int64_t{0});
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step());
    ORRERY_ASSIGN(const Value part, part_of(item, arguments.find(0, "attribute"), budget));
    ORRERY_ASSIGN(total, binary("+", total, part, budget));
  }
  return total;
}

/// Rows of `linecount` items, the last one filled up where a filling is given.
Result<Value> batch(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const int64_t count = arguments.integer(0, "linecount", 0);
  if (count <= 0) return render_error("batch needs a number above 0");
  const auto width = static_cast<size_t>(count);
  const Value* filling = arguments.find(1, "fill_with");
  std::vector<Value> rows;
  for (size_t begin = 0; begin < items->items.size(); begin += width) {
    const size_t end = begin + std::min(width, items->items.size() - begin);
    std::vector<Value> row(items->items.begin() + static_cast<ptrdiff_t>(begin),
                           items->items.begin() + static_cast<ptrdiff_t>(end));
    while (filling && !filling->is_none() && row.size() < width) {
      ORRERY_TRY(budget.step());
      row.push_back(*filling);
    }
    rows.emplace_back(std::move(row));
  }
  return budget.list(std::move(rows), Form::generator);
}

/// `slices` columns; the first ones are one item longer, the others filled up where a filling is given.
Result<Value> slice(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const int64_t count = arguments.integer(0, "slices", 0);
  if (count <= 0) return render_error("slice needs a number above 0");
  const auto total = static_cast<int64_t>(items->items.size());
  const Value* filling = arguments.find(1, "fill_with");
  std::vector<Value> columns;
  auto next = items->items.begin();
  for (int64_t i = 0; i < count; ++i) {
    ORRERY_TRY(budget.step());
    const int64_t size = total / count + (i < total % count ? 1 : 0);
    std::vector<Value> column(next, next + size);
    next += size;
    if (filling && !filling->is_none() && i >= total % count) column.push_back(*filling);
    columns.emplace_back(std::move(column));
  }
  return budget.list(std::move(columns), Form::generator);
}

constexpr NamedFilter kListFilters[] = {{"length", length},      {"count", length},
                                        {"default", fallback},   {"d", fallback},
                                        {"first", first},        {"last", last},
                                        {"list", list_filter},   {"reverse", reverse},
                                        {"items", items_filter}, {"attr", attribute_filter},
                                        {"join", join},          {"sort", sort},
                                        {"dictsort", dictsort},  {"groupby", groupby},
                                        {"unique", unique},      {"min", extreme<true>},
                                        {"max", extreme<false>}, {"sum", sum},
                                        {"batch", batch},        {"slice", slice}};

}  // namespace

std::span<const NamedFilter> list_filters() { return kListFilters; }

}  // namespace orrery::text::jinja
