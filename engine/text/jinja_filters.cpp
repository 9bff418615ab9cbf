#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

using Filter = Result<Value> (*)(const Value&, const Arguments&, Budget&);

/// Filters that are a method of strings by another name.
template <const char* const& method>
Result<Value> as_method(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(std::string text, to_text(value, budget));
  return call_method(Value(std::move(text)), method, arguments, budget);
}
constexpr const char* kStrip = "strip";
constexpr const char* kUpper = "upper";
constexpr const char* kLower = "lower";
constexpr const char* kTitle = "title";
constexpr const char* kCapitalize = "capitalize";
constexpr const char* kReplace = "replace";

Result<Value> json_filter(const Value& value, const Arguments& arguments, Budget& budget) {
  const int64_t indent = arguments.integer(0, "indent", -1);
  ORRERY_ASSIGN(std::string text,
                to_json(value, static_cast<int>(std::clamp<int64_t>(indent, -1, 16)), budget));
  return budget.text(std::move(text));
}

Result<Value> length(const Value& value, const Arguments&, Budget& budget) {
  if (const std::string* text = value.string()) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(text->size() / 256)));
    return Value(static_cast<int64_t>(count_code_points(*text)));
  }
  if (value.list()) return Value(static_cast<int64_t>(value.list()->items.size()));
  if (value.dict()) return Value(static_cast<int64_t>(value.dict()->items.size()));
  if (value.is_undefined()) return Value(int64_t{0});
  return render_error(fmt::format("a {} has no length", value.type_name()));
}

Result<Value> fallback(const Value& value, const Arguments& arguments, Budget&) {
  const bool take = value.is_undefined() || (arguments.flag(1, "boolean", false) && !value.truthy());
  const Value* other = arguments.find(0, "default_value");
  if (!take) return value;
  return other ? *other : Value("");
}

Result<Value> string_filter(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(std::string text, to_text(value, budget));
  return budget.text(std::move(text));
}

Result<Value> same(const Value& value, const Arguments&, Budget&) { return value; }

Result<Value> integer_filter(const Value& value, const Arguments& arguments, Budget&) {
  const int64_t otherwise = arguments.integer(0, "default", 0);
  double number = 0;
  int64_t storage = 0;
  if (const int64_t* whole = value.as_integer(storage)) return Value(*whole);
  if (const std::string* text = value.string()) {
    char* end = nullptr;
    number = std::strtod(text->c_str(), &end);
    if (end == text->c_str()) return Value(otherwise);
  } else if (!value.as_number(number)) {
    return Value(otherwise);
  }
  if (!(std::abs(number) < 9e18)) return Value(otherwise);
  return Value(static_cast<int64_t>(number));
}

Result<Value> float_filter(const Value& value, const Arguments&, Budget&) {
  double number = 0;
  if (value.string()) number = std::strtod(value.string()->c_str(), nullptr);
  value.as_number(number);
  return Value(number);
}

Result<Value> absolute(const Value& value, const Arguments&, Budget& budget) {
  const Value zero(int64_t{0});
  ORRERY_ASSIGN(const bool negative, compare("<", value, zero, budget));
  return negative ? binary("-", zero, value, budget) : Result<Value>(value);
}

Result<Value> first(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return items->items.empty() ? Value(Undefined{"first"}) : items->items.front();
}
Result<Value> last(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return items->items.empty() ? Value(Undefined{"last"}) : items->items.back();
}
Result<Value> list_filter(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return budget.list(items->items);
}
Result<Value> reverse(const Value& value, const Arguments&, Budget& budget) {
  const Value step(int64_t{-1});
  if (value.string() || value.list()) return get_slice(value, nullptr, nullptr, &step, budget);
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  return budget.list({items->items.rbegin(), items->items.rend()});
}

Result<Value> items_filter(const Value& value, const Arguments& arguments, Budget& budget) {
  if (value.is_undefined()) return Value(std::vector<Value>());
  return call_method(value, "items", arguments, budget);
}

Result<Value> dictsort(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!value.dict()) return render_error("dictsort needs a dict");
  ORRERY_ASSIGN(const Value pairs, call_method(value, "items", {}, budget));
  std::vector<Value> sorted = pairs.list()->items;
  const bool sensitive = arguments.flag(0, "case_sensitive", false);
  const auto key = [&](const Value& pair) {
    const std::string& text = *pair.list()->items[0].string();
    return sensitive ? text : lowercase(text);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Value& a, const Value& b) { return key(a) < key(b); });
  return budget.list(std::move(sorted));
}

/// The part of an item that `attribute` names ("a.b" goes down).
Result<Value> part_of(const Value& item, const std::string* attribute) {
  if (!attribute) return item;
  Value value = item;
  for (size_t begin = 0; begin <= attribute->size();) {
    const size_t dot = std::min(attribute->find('.', begin), attribute->size());
    ORRERY_ASSIGN(value, get_attribute(value, attribute->substr(begin, dot - begin)));
    begin = dot + 1;
  }
  return value;
}

Result<Value> join(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const Value* separator = arguments.find(0, "d");
  std::string between;
  if (separator) {
    ORRERY_ASSIGN(between, to_text(*separator, budget));
  }
  std::string text;
  for (size_t i = 0; i < items->items.size(); ++i) {
    ORRERY_ASSIGN(const Value part, part_of(items->items[i], arguments.string(1, "attribute")));
    ORRERY_ASSIGN(const std::string next, to_text(part, budget));
    ORRERY_TRY(budget.make(next.size() + between.size()));
    text += (i ? between : "") + next;
    if (text.size() > Budget::kLongest) return limit_error("a text grows beyond 16 MB");
  }
  return Value(std::move(text));
}

Result<Value> map(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const Value* attribute = arguments.find(SIZE_MAX, "attribute");
  std::vector<Value> results;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step());
    if (attribute && attribute->string()) {
      ORRERY_ASSIGN(Value part, part_of(item, attribute->string()));
      results.push_back(std::move(part));
      continue;
    }
    const std::string* filter = arguments.string(0, "filter");
    if (!filter || *filter == "map") return render_error("map needs the name of an attribute or of a filter");
    Arguments rest;
    rest.positional.assign(arguments.positional.begin() + 1, arguments.positional.end());
    ORRERY_ASSIGN(Value part, apply_filter(*filter, item, rest, budget));
    results.push_back(std::move(part));
  }
  return budget.list(std::move(results));
}

/// select, reject: by a test of the item; selectattr, rejectattr: by a test of its attribute.
template <bool keep, bool by_attribute>
Result<Value> select(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  constexpr size_t kTestAt = by_attribute ? 1 : 0;
  const std::string* attribute = by_attribute ? arguments.string(0, "attribute") : nullptr;
  if (by_attribute && !attribute) return render_error("the name of an attribute is missing");
  const std::string* test = arguments.string(kTestAt, "test");
  Arguments rest;
  for (size_t i = kTestAt + 1; i < arguments.positional.size(); ++i)
    rest.positional.push_back(arguments.positional[i]);
  std::vector<Value> results;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step());
    ORRERY_ASSIGN(const Value part, part_of(item, attribute));
    bool holds = part.truthy();
    if (test) {
      ORRERY_ASSIGN(holds, apply_test(*test == "==" ? "eq" : *test, part, rest, budget));
    }
    if (holds == keep) results.push_back(item);
  }
  return budget.list(std::move(results));
}

Result<Value> unique(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  std::vector<Value> results;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(results.size())));
    if (std::none_of(results.begin(), results.end(),
                     [&](const Value& other) { return equal(item, other, budget); }))
      results.push_back(item);
  }
  return budget.list(std::move(results));
}

/// Texts ignore case, as Jinja does it.
Result<Value> sort(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step(16));
    ORRERY_ASSIGN(Value key, part_of(item, arguments.string(2, "attribute")));
    double number = 0;
    if (!key.string() && !key.as_number(number)) return render_error("only texts or numbers can be sorted");
    if (!keyed.empty() && (keyed[0].first.string() != nullptr) != (key.string() != nullptr))
      return render_error("texts and numbers cannot be sorted together");
    if (key.string() && !arguments.flag(1, "case_sensitive", false)) key = Value(lowercase(*key.string()));
    keyed.emplace_back(std::move(key), item);
  }
  const auto before = [](const auto& a, const auto& b) {
    double x = 0, y = 0;
    if (a.first.string()) return *a.first.string() < *b.first.string();
    return a.first.as_number(x) && b.first.as_number(y) && x < y;
  };
  std::stable_sort(keyed.begin(), keyed.end(), before);
  std::vector<Value> results;
  for (auto& [key, item] : keyed) results.push_back(std::move(item));
  if (arguments.flag(0, "reverse", false)) std::reverse(results.begin(), results.end());
  return budget.list(std::move(results));
}

template <bool smallest>
Result<Value> extreme(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  Value best(Undefined{"extreme"});
  for (const Value& item : items->items) {
    bool better = best.is_undefined();
    if (!better) {
      ORRERY_ASSIGN(better, compare(smallest ? "<" : ">", item, best, budget));
    }
    if (better) best = item;
  }
  return best;
}

Result<Value> sum(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  Value total(int64_t{0});
  for (const Value& item : items->items) {
    ORRERY_ASSIGN(const Value part, part_of(item, arguments.string(0, "attribute")));
    ORRERY_ASSIGN(total, binary("+", total, part, budget));
  }
  return total;
}

Result<Value> indent(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  const std::string space(static_cast<size_t>(std::clamp<int64_t>(arguments.integer(0, "width", 4), 0, 64)),
                          ' ');
  const bool blank = arguments.flag(2, "blank", false);
  std::string result = arguments.flag(1, "first", false) ? space : "";
  for (size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && (blank || text[i + 1] != '\n')) result += space;
    if (result.size() > Budget::kLongest) return limit_error("a text grows beyond 16 MB");
  }
  return budget.text(std::move(result));
}

struct Named {
  std::string_view name;
  Filter run;
};
constexpr Named kFilters[] = {
    {"trim", as_method<kStrip>},
    {"upper", as_method<kUpper>},
    {"lower", as_method<kLower>},
    {"title", as_method<kTitle>},
    {"capitalize", as_method<kCapitalize>},
    {"replace", as_method<kReplace>},
    {"tojson", json_filter},
    {"length", length},
    {"count", length},
    {"default", fallback},
    {"d", fallback},
    {"string", string_filter},
    {"safe", same},
    {"int", integer_filter},
    {"float", float_filter},
    {"abs", absolute},
    {"first", first},
    {"last", last},
    {"list", list_filter},
    {"reverse", reverse},
    {"items", items_filter},
    {"dictsort", dictsort},
    {"join", join},
    {"map", map},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
    {"unique", unique},
    {"sort", sort},
    {"min", extreme<true>},
    {"max", extreme<false>},
    {"sum", sum},
    {"indent", indent},
};

}  // namespace

Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments,
                           Budget& budget) {
  ORRERY_TRY(budget.step());
  for (const Named& filter : kFilters)
    if (filter.name == name) return filter.run(value, arguments, budget);
  return render_error(fmt::format("the filter \"{}\" is not supported", name.substr(0, 40)));
}

}  // namespace orrery::text::jinja
