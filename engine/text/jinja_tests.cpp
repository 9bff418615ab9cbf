#include <fmt/format.h>

#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

using Kind = bool (*)(const Value&);
struct Named {
  std::string_view name;
  Kind holds;
};

// Tests of a value alone.
constexpr Named kKinds[] = {
    {"defined", [](const Value& v) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v) { return v.is_undefined(); }},
    {"none", [](const Value& v) { return v.is_none(); }},
    {"string", [](const Value& v) { return v.string() != nullptr; }},
    {"boolean", [](const Value& v) { return v.boolean() != nullptr; }},
    {"true", [](const Value& v) { return v.boolean() && *v.boolean(); }},
    {"false", [](const Value& v) { return v.boolean() && !*v.boolean(); }},
    {"integer", [](const Value& v) { return v.integer() != nullptr; }},
    {"float", [](const Value& v) { return v.real() != nullptr; }},
    {"number", [](const Value& v) { return v.integer() || v.real() || v.boolean(); }},
    {"mapping", [](const Value& v) { return v.dict() && !v.dict()->is_namespace; }},
    {"sequence", [](const Value& v) { return v.string() || v.list() || v.dict(); }},
    {"iterable", [](const Value& v) { return v.string() || v.list() || v.dict() || v.is_undefined(); }},
    {"callable", [](const Value& v) { return v.function() != nullptr; }},
    {"lower", [](const Value& v) { return v.string() && lowercase(*v.string()) == *v.string(); }},
    {"upper", [](const Value& v) { return v.string() && uppercase(*v.string()) == *v.string(); }},
};

/// The operator that a test with one argument stands for; empty when it is none.
std::string_view comparison_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
      {"eq", "=="}, {"equalto", "=="}, {"ne", "!="},         {"lt", "<"},  {"lessthan", "<"},
      {"le", "<="}, {"gt", ">"},       {"greaterthan", ">"}, {"ge", ">="}, {"in", "in"}};
  for (const auto& [test, op] : kComparisons)
    if (test == name) return op;
  return {};
}

Result<bool> divisible(const Value& value, int64_t by) {
  int64_t storage = 0;
  const int64_t* number = value.as_integer(storage);
  if (!number || by == 0) return render_error("a test needs whole numbers");
  return by == -1 || *number % by == 0;
}

}  // namespace

Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                        Budget& budget) {
  ORRERY_TRY(budget.step(1 + static_cast<int64_t>((value.string() ? value.string()->size() : 0) / 4096)));
  for (const Named& kind : kKinds)
    if (kind.name == name) return kind.holds(value);
  if (name == "even") return divisible(value, 2);
  if (name == "odd") {
    ORRERY_ASSIGN(const bool even, divisible(value, 2));
    return !even;
  }
  if (name == "divisibleby") return divisible(value, arguments.integer(0, "num", 0));
  if (const std::string_view op = comparison_of(name); !op.empty()) {
    const Value* other = arguments.find(0, "other");
    if (!other) return render_error(fmt::format("the test \"{}\" needs a value", name));
    return compare(op, value, *other, budget);
  }
  return render_error(fmt::format("the test \"{}\" is not supported", name.substr(0, 40)));
}

}  // namespace orrery::text::jinja
