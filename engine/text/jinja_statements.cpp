#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_evaluator.h"

namespace orrery::text::jinja {

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->around.get())
    for (const auto& [key, value] : scope->variables)
      if (key == name) return &value;
  return nullptr;
}

void Scope::set(const std::string& name, Value value) {
  for (auto& [key, old] : variables)
    if (key == name) {
      old = std::move(value);
      return;
    }
  variables.emplace_back(name, std::move(value));
}

Error at_line(Error error, int line) {
  if (error.where.empty()) error.where = fmt::format("template line {}", line);
  return error;
}

Evaluator::ScopeGuard::ScopeGuard(Evaluator& evaluator, std::shared_ptr<Scope> around)
    : evaluator_(evaluator), before_(evaluator.scope_) {
  evaluator.scope_ = std::make_shared<Scope>();
  evaluator.scope_->around = std::move(around);
}

Evaluator::Evaluator(const Context& context) : context_(context), scope_(std::make_shared<Scope>()) {
  scope_->variables = context.variables;
}

Evaluator::~Evaluator() {
  for (const auto& space : namespaces_) space->clear();
  for (const auto& scope : kept_scopes_) scope->variables.clear();
}

Result<std::string> Evaluator::run(const Block& block) {
  const auto flow = execute(block);
  if (!flow) return flow.error();
  return std::move(out_);
}

/// The scope of this place, for a value that is used after it.
std::shared_ptr<Scope> Evaluator::keep_scope() {
  if (!std::exchange(scope_->kept, true)) kept_scopes_.push_back(scope_);
  return scope_;
}

Result<Evaluator::Flow> Evaluator::execute(const Block& block) {
  for (const auto& statement : block) {
    const Depth depth(depth_);
    if (depth_ > kDeepest) return limit_error("its calls are nested too deeply");
    ORRERY_TRY(budget_.step());
    auto flow = execute(*statement);
    if (!flow) return at_line(std::move(flow).error(), statement->line);
    if (*flow != Flow::normal) return *flow;
  }
  return Flow::normal;
}

Result<Evaluator::Flow> Evaluator::execute(const Statement& statement) {
  using Type = Statement::Kind;
  switch (statement.kind) {
    case Type::text:
      return write(statement.text);
    case Type::output:
      return output(*statement.value);
    case Type::condition:
      return condition(statement);
    case Type::loop: {
      ORRERY_ASSIGN(const Value value, eval(*statement.value));
      return loop(statement, value, 0);
    }
    case Type::set:
      return set(statement);
    case Type::capture:
      return capture(statement);
    case Type::with:
      return with(statement);
    case Type::filtered:
      return filtered(statement);
    case Type::macro:
      return define_macro(statement);
    case Type::call:
      return call_block(statement);
    case Type::generation:
      return generation(statement);
    case Type::loop_break:
      return Flow::loop_break;
    case Type::loop_continue:
      return Flow::loop_continue;
  }
  return Flow::normal;
}

Result<Evaluator::Flow> Evaluator::write(std::string_view text) {
  if (out_.size() + text.size() > Budget::kLongest) return limit_error("its output grows beyond 16 MB");
  ORRERY_TRY(budget_.step(static_cast<int64_t>(text.size() / 4096)));
  out_ += text;
  return Flow::normal;
}

Result<Evaluator::Flow> Evaluator::output(const Expression& expression) {
  ORRERY_ASSIGN(const Value value, eval(expression));
  if (value.string()) return write(*value.string());
  ORRERY_ASSIGN(const std::string text, to_text(value, budget_));
  return write(text);
}

Result<Evaluator::Flow> Evaluator::condition(const Statement& statement) {
  for (const auto& [test, body] : statement.branches) {
    if (test) {
      ORRERY_ASSIGN(const Value value, eval(*test));
      if (!value.truthy()) continue;
    }
    return execute(body);
  }
  return Flow::normal;
}

Result<void> Evaluator::bind(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    ORRERY_ASSIGN(const auto items, iterate(value, budget_));
    if (items->items.size() != target.parts.size())
      return render_error(fmt::format("a value cannot be taken apart into {} names", target.parts.size()));
    for (size_t i = 0; i < target.parts.size(); ++i) ORRERY_TRY(bind(target.parts[i], items->items[i]));
    return {};
  }
  if (target.attribute.empty()) {
    scope_->set(target.name, value);
    return {};
  }
  const Value space = look_up(target.name);
  if (!space.dict() || !space.dict()->is_namespace)
    return render_error(fmt::format("\"{}\" is not a namespace", target.name));
  if (target.attribute.starts_with("_")) return render_error("names in a namespace do not begin with \"_\"");
  if (value.depth() >= Budget::kDeepest) return limit_error("values are nested too deeply");
  space.dict()->set(target.attribute, value);
  return {};
}

// ---- loops

/// The items of a loop that pass its filter.
Result<std::shared_ptr<const List>> Evaluator::loop_items(const Statement& statement, const Value& value) {
  ORRERY_ASSIGN(auto items, iterate(value, budget_));
  if (!statement.filter) return items;
  auto passed = std::make_shared<List>();
  const ScopeGuard scope(*this);
  for (const Value& item : items->items) {
    ORRERY_TRY(bind(statement.target, item));
    ORRERY_ASSIGN(const Value keep, eval(*statement.filter));
    if (keep.truthy()) passed->items.push_back(item);
  }
  return std::shared_ptr<const List>(std::move(passed));
}

Result<Evaluator::Flow> Evaluator::loop(const Statement& statement, const Value& value, int depth0) {
  ORRERY_ASSIGN(auto items, loop_items(statement, value));
  if (items->items.empty()) {
    const ScopeGuard scope(*this);
    return execute(statement.otherwise);
  }
  auto state = std::make_shared<Loop>();
  state->items = std::move(items);
  state->depth0 = depth0;
  if (statement.recursive) {
    state->again = &statement;
    state->scope = keep_scope();
  }
  return turns(statement, state);
}

Result<Evaluator::Flow> Evaluator::turns(const Statement& statement, const std::shared_ptr<Loop>& loop) {
  for (size_t i = 0; i < loop->items->items.size(); ++i) {
    ORRERY_TRY(budget_.step());
    const ScopeGuard scope(*this);
    loop->index = i;
    scope_->set("loop", Value(loop));
    ORRERY_TRY(bind(statement.target, loop->items->items[i]));
    ORRERY_ASSIGN(const Flow flow, execute(statement.body));
    if (flow == Flow::loop_break) break;
  }
  return Flow::normal;
}

// ---- blocks whose text becomes a value

template <class Prepare>
Result<Value> Evaluator::captured(const Block& body, std::shared_ptr<Scope> around, const Prepare& prepare,
                                  Flow* flow) {
  std::string outer = std::move(out_);
  out_.clear();
  auto ended = [&]() -> Result<Flow> {
    const ScopeGuard scope(*this, std::move(around));
    ORRERY_TRY(prepare());
    return execute(body);
  }();
  std::string text = std::move(out_);
  out_ = std::move(outer);
  if (!ended) return std::move(ended).error();
  if (flow) *flow = *ended;
  return budget_.text(std::move(text));
}

Result<Value> Evaluator::captured_and_filtered(const Statement& statement, Flow& flow) {
  ORRERY_ASSIGN(Value text, captured(
                                statement.body, scope_, [] { return Result<void>(); }, &flow));
  if (!statement.filter) return text;
  return filter(*statement.filter, &text);
}

Result<Evaluator::Flow> Evaluator::set(const Statement& statement) {
  ORRERY_ASSIGN(const Value value, eval(*statement.value));
  ORRERY_TRY(bind(statement.target, value));
  return Flow::normal;
}

Result<Evaluator::Flow> Evaluator::capture(const Statement& statement) {
  Flow flow = Flow::normal;
  ORRERY_ASSIGN(const Value text, captured_and_filtered(statement, flow));
  ORRERY_TRY(bind(statement.target, text));
  return flow;
}

Result<Evaluator::Flow> Evaluator::filtered(const Statement& statement) {
  Flow flow = Flow::normal;
  ORRERY_ASSIGN(const Value value, captured_and_filtered(statement, flow));
  ORRERY_ASSIGN(const std::string text, to_text(value, budget_));
  ORRERY_TRY(write(text));
  return flow;
}

Result<Evaluator::Flow> Evaluator::with(const Statement& statement) {
  std::vector<Value> values;
  for (const auto& [target, expression] : statement.bindings) {
    ORRERY_ASSIGN(Value value, eval(*expression));
    values.push_back(std::move(value));
  }
  const ScopeGuard scope(*this);
  for (size_t i = 0; i < values.size(); ++i) ORRERY_TRY(bind(statement.bindings[i].first, values[i]));
  return execute(statement.body);
}

Result<Evaluator::Flow> Evaluator::generation(const Statement& statement) {
  const ScopeGuard scope(*this);
  return execute(statement.body);
}

// ---- macros

Result<Evaluator::Flow> Evaluator::define_macro(const Statement& statement) {
  scope_->set(statement.text, Value(std::make_shared<const Macro>(Macro{&statement, keep_scope()})));
  return Flow::normal;
}

Result<Evaluator::Flow> Evaluator::call_block(const Statement& statement) {
  const Value caller(std::make_shared<const Macro>(Macro{&statement, keep_scope()}));
  ORRERY_ASSIGN(const Value value, call(*statement.value, &caller));
  ORRERY_ASSIGN(const std::string text, to_text(value, budget_));
  return write(text);
}

Result<Value> Evaluator::call_macro(const Macro& macro, const Arguments& given) {
  return captured(macro.definition->body, macro.scope,
                  [&] { return bind_parameters(*macro.definition, given); });
}

Result<Value> Evaluator::call_loop(const Loop& loop, const Arguments& given) {
  if (!loop.again) return render_error("only a loop that is marked \"recursive\" can be called");
  if (given.positional.size() != 1) return render_error("a loop is called with what it walks");
  std::string outer = std::move(out_);
  out_.clear();
  auto flow = [&]() -> Result<Flow> {
    const ScopeGuard scope(*this, loop.scope);
    return this->loop(*loop.again, given.positional[0], loop.depth0 + 1);
  }();
  std::string text = std::move(out_);
  out_ = std::move(outer);
  if (!flow) return std::move(flow).error();
  return budget_.text(std::move(text));
}

Result<std::string> render(const Block& block, const Context& context) {
  return Evaluator(context).run(block);
}

}  // namespace orrery::text::jinja
