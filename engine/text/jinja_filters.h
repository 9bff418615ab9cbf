// The tables of filters, by what they work on.
#pragma once

#include <span>

#include "engine/text/jinja_value.h"

namespace orrery::text::jinja {

using Filter = Result<Value> (*)(const Value&, const Arguments&, Budget&);
struct NamedFilter {
  std::string_view name;
  Filter run;
};
std::span<const NamedFilter> text_filters();
std::span<const NamedFilter> number_filters();
std::span<const NamedFilter> list_filters();       // order, parts and sums of sequences
std::span<const NamedFilter> selection_filters();  // map, select, ...: a test or a filter of each item

/// The part of an item that `attribute` names: "a.b" goes down, "0" is an index, a number too; null is the
/// item.
Result<Value> part_of(const Value& item, const Value* attribute, Budget& budget);
/// What sorting and comparing items looks at: texts without case, unless `case_sensitive`.
Value comparison_key(const Value& value, bool case_sensitive);

}  // namespace orrery::text::jinja
