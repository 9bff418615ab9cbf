#include <fmt/format.h>

#include "engine/text/jinja_evaluator.h"

namespace orrery::text::jinja {

using Kind = Expression::Kind;

Value Evaluator::look_up(const std::string& name) const {
  if (const Value* value = scope_->find(name)) return *value;
  if (is_global_function(name)) return Value(Function{name});
  return Value(Undefined{name});
}

Result<Value> Evaluator::eval(const Expression& e) {
  const Depth depth(depth_);
  if (depth_ > kDeepest) return limit_error("its calls are nested too deeply");
  ORRERY_TRY(budget_.step());
  auto value = evaluate(e);
  if (!value) return at_line(std::move(value).error(), e.line);
  return value;
}

Result<Value> Evaluator::evaluate(const Expression& e) {
  switch (e.kind) {
    case Kind::constant:
      return e.value;
    case Kind::name:
      return look_up(e.text);
    case Kind::list:
      return list(e);
    case Kind::dict:
      return dict(e);
    case Kind::unary:
      return unary(e);
    case Kind::binary:
      return e.text == "and" || e.text == "or" ? logical(e) : binary_operator(e);
    case Kind::compare:
      return comparison(e);
    case Kind::conditional:
      return conditional(e);
    case Kind::attribute: {
      ORRERY_ASSIGN(const Value object, eval(*e.children[0]));
      return get_attribute(object, e.text);
    }
    case Kind::subscript:
      return subscript(e);
    case Kind::slice:
      return slice(e);
    case Kind::call:
      return call(e, nullptr);
    case Kind::filter:
      return filter(e, nullptr);
    case Kind::test:
      return test(e);
    case Kind::spread:
      return render_error("\"*\" stands among the arguments of a call");
  }
  return Value();
}

Result<Value> Evaluator::list(const Expression& e) {
  std::vector<Value> items;
  for (const auto& child : e.children) {
    ORRERY_ASSIGN(Value item, eval(*child));
    items.push_back(std::move(item));
  }
  return budget_.list(std::move(items), e.text == "tuple" ? Form::tuple : Form::list);
}

Result<Value> Evaluator::dict(const Expression& e) {
  auto made = std::make_shared<Dict>();
  for (size_t i = 0; i + 1 < e.children.size(); i += 2) {
    ORRERY_ASSIGN(const Value key, eval(*e.children[i]));
    ORRERY_ASSIGN(Value value, eval(*e.children[i + 1]));
    if (!key.string() && !key.integer())
      return render_error(
          fmt::format("the keys of a dict are strings and whole numbers here, not {}", key.type_name()));
    made->set(*key_of(key), std::move(value));
  }
  if (made->depth > Budget::kDeepest) return limit_error("values are nested too deeply");
  return Value(std::move(made));
}

Result<Value> Evaluator::unary(const Expression& e) {
  ORRERY_ASSIGN(const Value value, eval(*e.children[0]));
  if (e.text == "not") return Value(!value.truthy());
  double number = 0;
  if (!value.as_number(number)) return render_error(fmt::format("\"{}\" needs a number", e.text));
  if (value.real()) return Value(e.text == "-" ? -number : number);
  return binary(e.text, Value(int64_t{0}), value, budget_);
}

Result<Value> Evaluator::logical(const Expression& e) {
  ORRERY_ASSIGN(const Value left, eval(*e.children[0]));
  if (left.truthy() == (e.text == "or")) return left;
  return eval(*e.children[1]);
}

Result<Value> Evaluator::binary_operator(const Expression& e) {
  ORRERY_ASSIGN(const Value left, eval(*e.children[0]));
  ORRERY_ASSIGN(const Value right, eval(*e.children[1]));
  return binary(e.text, left, right, budget_);
}

Result<Value> Evaluator::comparison(const Expression& e) {
  ORRERY_ASSIGN(Value left, eval(*e.children[0]));
  for (size_t i = 0; i < e.operators.size(); ++i) {
    ORRERY_ASSIGN(Value right, eval(*e.children[i + 1]));
    ORRERY_ASSIGN(const bool holds, compare(e.operators[i], left, right, budget_));
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Evaluator::conditional(const Expression& e) {
  ORRERY_ASSIGN(const Value condition, eval(*e.children[1]));
  if (condition.truthy()) return eval(*e.children[0]);
  return e.children[2] ? eval(*e.children[2]) : Result<Value>(Value(Undefined{"else"}));
}

Result<Value> Evaluator::subscript(const Expression& e) {
  ORRERY_ASSIGN(const Value object, eval(*e.children[0]));
  ORRERY_ASSIGN(const Value key, eval(*e.children[1]));
  return get_item(object, key, budget_);
}

Result<Value> Evaluator::slice(const Expression& e) {
  ORRERY_ASSIGN(const Value object, eval(*e.children[0]));
  Value parts[3];
  const Value* given[3] = {nullptr, nullptr, nullptr};
  for (size_t i = 0; i < 3; ++i) {
    if (!e.children[i + 1]) continue;
    ORRERY_ASSIGN(parts[i], eval(*e.children[i + 1]));
    given[i] = &parts[i];
  }
  return get_slice(object, given[0], given[1], given[2], budget_);
}

Result<Arguments> Evaluator::arguments(const Expression& e) {
  Arguments made;
  for (size_t i = 1; i < e.children.size(); ++i) {
    const bool spread = e.children[i]->kind == Kind::spread;
    ORRERY_ASSIGN(Value value, eval(spread ? *e.children[i]->children[0] : *e.children[i]));
    if (!spread) {
      made.positional.push_back(std::move(value));
      continue;
    }
    ORRERY_ASSIGN(const auto items, iterate(value, budget_));
    made.positional.insert(made.positional.end(), items->items.begin(), items->items.end());
  }
  for (const auto& [name, expression] : e.named) {
    ORRERY_ASSIGN(Value value, eval(*expression));
    if (!name.empty()) {
      made.named.emplace_back(name, std::move(value));
      continue;
    }
    if (!value.dict()) return render_error("\"**\" needs a dict");
    ORRERY_TRY(budget_.step(static_cast<int64_t>(value.dict()->items().size())));
    for (const auto& [key, item] : value.dict()->items()) {
      const auto* own = std::get_if<std::string>(&key);
      if (!own) return render_error("\"**\" needs a dict whose keys are names");
      made.named.emplace_back(*own, item);
    }
  }
  return made;
}

/// Of `piped` where the chain begins without a value: the text of a block.
Result<Value> Evaluator::filter(const Expression& e, const Value* piped) {
  const Depth depth(depth_);
  if (depth_ > kDeepest) return limit_error("its calls are nested too deeply");
  Value value;
  if (!e.children[0]) {
    if (piped) value = *piped;
  } else if (piped && e.children[0]->kind == Kind::filter) {
    ORRERY_ASSIGN(value, filter(*e.children[0], piped));
  } else {
    ORRERY_ASSIGN(value, eval(*e.children[0]));
  }
  ORRERY_ASSIGN(const Arguments given, arguments(e));
  return apply_filter(e.text, value, given, budget_);
}

Result<Value> Evaluator::test(const Expression& e) {
  ORRERY_ASSIGN(const Value value, eval(*e.children[0]));
  ORRERY_ASSIGN(const Arguments given, arguments(e));
  ORRERY_ASSIGN(const bool holds, apply_test(e.text, value, given, budget_));
  return Value(holds);
}

/// `caller`: the body of a call block, null elsewhere.
Result<Value> Evaluator::call(const Expression& e, const Value* caller) {
  ORRERY_ASSIGN(const Value target, eval(*e.children[0]));
  ORRERY_ASSIGN(Arguments given, arguments(e));
  if (caller) given.named.emplace_back("caller", *caller);
  return call_value(target, e.children[0]->text, std::move(given));
}

}  // namespace orrery::text::jinja
