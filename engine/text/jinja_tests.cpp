#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_text.h"
#include "engine/text/jinja_value.h"

namespace orrery::text::jinja {
namespace {

bool is_container(const Value& v) { return v.string() || v.list() || (v.dict() && !v.dict()->is_namespace); }
bool is_generator(const Value& v) { return v.list() && v.list()->form == Form::generator; }

struct NamedKind {
  std::string_view name;
  bool (*holds)(const Value&);
};
// Tests of a value alone. Undefined counts as an empty sequence that can be called, as in Jinja.
constexpr NamedKind kKinds[] = {
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
    {"sequence", [](const Value& v) { return (is_container(v) && !is_generator(v)) || v.is_undefined(); }},
    {"iterable", [](const Value& v) { return is_container(v) || v.is_undefined() || v.loop(); }},
    {"callable", [](const Value& v) { return v.is_callable() || v.is_undefined(); }},
    {"escaped", [](const Value&) { return false; }},
};

/// The operator that a test with one argument stands for; empty when it is none.
std::string_view comparison_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
      {"eq", "=="},         {"equalto", "=="}, {"==", "=="}, {"ne", "!="}, {"!=", "!="}, {"lt", "<"},
      {"lessthan", "<"},    {"<", "<"},        {"le", "<="}, {"<=", "<="}, {"gt", ">"},  {">", ">"},
      {"greaterthan", ">"}, {"ge", ">="},      {">=", ">="}, {"in", "in"}};
  for (const auto& [test, op] : kComparisons)
    if (test == name) return op;
  return {};
}

constexpr std::string_view kOthers[] = {"even",  "odd",    "divisibleby", "lower",
                                        "upper", "sameas", "filter",      "test"};

Result<bool> divisible(const Value& value, int64_t by) {
  int64_t storage = 0;
  const int64_t* number = value.as_integer(storage);
  if (!number || by == 0) return render_error("a test needs whole numbers");
  return by == -1 || *number % by == 0;
}

const NamedKind* kind_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const NamedKind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

bool has_test(std::string_view name) {
  return kind_of(name) || !comparison_of(name).empty() ||
         std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                        Budget& budget) {
  ORRERY_TRY(budget.step(1 + static_cast<int64_t>((value.string() ? value.string()->size() : 0) / 64)));
  if (const NamedKind* kind = kind_of(name)) return kind->holds(value);
  if (name == "lower" || name == "upper") {
    ORRERY_ASSIGN(const std::string text, to_text(value, budget));
    return is_case(text, name == "lower" ? Case::lower : Case::upper);
  }
  if (name == "even") return divisible(value, 2);
  if (name == "odd") {
    ORRERY_ASSIGN(const bool even, divisible(value, 2));
    return !even;
  }
  if (name == "divisibleby") return divisible(value, arguments.integer(0, "num", 0));
  if (name == "filter") return value.string() && has_filter(*value.string());
  if (name == "test") return value.string() && has_test(*value.string());
  const std::string_view op = comparison_of(name);
  if (op.empty() && name != "sameas")
    return render_error(fmt::format("the test \"{}\" is not supported", name.substr(0, 40)));
  const Value* other = arguments.find(0, "other");
  if (!other) return render_error(fmt::format("the test \"{}\" needs a value", name));
  if (name == "sameas") return value.same_as(*other);
  return compare(op, value, *other, budget);
}

}  // namespace orrery::text::jinja
