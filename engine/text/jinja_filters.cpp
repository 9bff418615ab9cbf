#include "engine/text/jinja_filters.h"

#include <fmt/format.h>

#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

Filter filter_of(std::string_view name) {
  for (const auto table : {text_filters(), number_filters(), list_filters(), selection_filters()})
    for (const NamedFilter& filter : table)
      if (filter.name == name) return filter.run;
  return nullptr;
}

}  // namespace

Result<Value> part_of(const Value& item, const Value* attribute, Budget& budget) {
  if (!attribute) return item;
  if (!attribute->string()) return get_item(item, *attribute, budget);
  const std::string& path = *attribute->string();
  Value value = item;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t dot = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, dot - begin);
    const bool index =
        !name.empty() && name.size() < 18 && name.find_first_not_of("0123456789") == std::string::npos;
    ORRERY_ASSIGN(value, get_item(value, index ? Value(int64_t{std::stoll(name)}) : Value(name), budget));
    begin = dot + 1;
  }
  return value;
}

Value comparison_key(const Value& value, bool case_sensitive) {
  return value.string() && !case_sensitive ? Value(lowercase(*value.string())) : value;
}

bool has_filter(std::string_view name) { return filter_of(name) != nullptr; }

Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments,
                           Budget& budget) {
  ORRERY_TRY(budget.step());
  if (const Filter run = filter_of(name)) return run(value, arguments, budget);
  return render_error(fmt::format("the filter \"{}\" is not supported", name.substr(0, 40)));
}

}  // namespace orrery::text::jinja
