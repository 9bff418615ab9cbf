#include "engine/text/jinja_filters.h"

namespace orrery::text::jinja {
namespace {

/// The arguments after the first `count`, with those by name.
Arguments rest_of(const Arguments& arguments, size_t count) {
  Arguments rest;
  for (size_t i = count; i < arguments.positional.size(); ++i)
    rest.positional.push_back(arguments.positional[i]);
  rest.named = arguments.named;
  return rest;
}

/// What is false in Python is walked as if it were empty, none among it.
Result<Value> nothing(Budget& budget) { return budget.list({}, Form::generator); }

Result<Value> map(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!value.truthy()) return nothing(budget);
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  const Value* attribute = arguments.find(SIZE_MAX, "attribute");
  const Value* otherwise = arguments.find(SIZE_MAX, "default");
  const std::string* filter = arguments.string(0, "filter");
  if (!attribute && (!filter || *filter == "map"))
    return render_error("map needs the name of an attribute or of a filter");
  const Arguments rest = rest_of(arguments, 1);
  std::vector<Value> results;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step());
    Value part;
    if (attribute) {
      ORRERY_ASSIGN(part, part_of(item, attribute, budget));
      if (part.is_undefined() && otherwise) part = *otherwise;
    } else {
      ORRERY_ASSIGN(part, apply_filter(*filter, item, rest, budget));
    }
    results.push_back(std::move(part));
  }
  return budget.list(std::move(results), Form::generator);
}

/// select, reject: by a test of the item; selectattr, rejectattr: by a test of its attribute.
template <bool keep, bool by_attribute>
Result<Value> select(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!value.truthy()) return nothing(budget);
  ORRERY_ASSIGN(const auto items, iterate(value, budget));
  constexpr size_t kTestAt = by_attribute ? 1 : 0;
  const Value* attribute = by_attribute ? arguments.find(0, "attribute") : nullptr;
  if (by_attribute && !attribute) return render_error("the name of an attribute is missing");
  const std::string* test = arguments.string(kTestAt, "test");
  const Arguments rest = rest_of(arguments, kTestAt + 1);
  std::vector<Value> results;
  for (const Value& item : items->items) {
    ORRERY_TRY(budget.step());
    ORRERY_ASSIGN(const Value part, part_of(item, attribute, budget));
    bool holds = part.truthy();
    if (test) {
      ORRERY_ASSIGN(holds, apply_test(*test, part, rest, budget));
    }
    if (holds == keep) results.push_back(item);
  }
  return budget.list(std::move(results), Form::generator);
}

constexpr NamedFilter kSelectionFilters[] = {{"map", map},
                                             {"select", select<true, false>},
                                             {"reject", select<false, false>},
                                             {"selectattr", select<true, true>},
                                             {"rejectattr", select<false, true>}};

}  // namespace

std::span<const NamedFilter> selection_filters() { return kSelectionFilters; }

}  // namespace orrery::text::jinja
