#include "engine/text/jinja_eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

constexpr std::string_view kFunctions[] = {"range", "namespace", "dict", "raise_exception", "strftime_now"};

class Evaluator {
 public:
  explicit Evaluator(std::vector<std::pair<std::string, Value>> globals) {
    scopes_.push_back(std::move(globals));
  }
  ~Evaluator() {
    // A namespace may hold itself: emptying all of them breaks such circles.
    for (const auto& space : namespaces_) space->items.clear();
  }
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Result<std::string> run(const Block& block) {
    const auto flow = execute(block);
    if (!flow) return flow.error();
    return std::move(out_);
  }

 private:
  enum class Flow { normal, loop_break, loop_continue };
  using Scope = std::vector<std::pair<std::string, Value>>;
  using Kind = Expression::Kind;

  struct ScopeGuard {
    explicit ScopeGuard(std::vector<Scope>& scopes) : scopes(scopes) { scopes.emplace_back(); }
    ~ScopeGuard() { scopes.pop_back(); }
    ScopeGuard(const ScopeGuard&) = delete;
    ScopeGuard& operator=(const ScopeGuard&) = delete;
    std::vector<Scope>& scopes;
  };

  static Error at_line(Error error, int line) {
    if (error.where.empty()) error.where = fmt::format("template line {}", line);
    return error;
  }

  // ---- statements

  Result<Flow> execute(const Block& block) {
    for (const auto& statement : block) {
      ORRERY_TRY(budget_.step());
      auto flow = execute(*statement);
      if (!flow) return at_line(std::move(flow).error(), statement->line);
      if (*flow != Flow::normal) return *flow;
    }
    return Flow::normal;
  }

  Result<Flow> execute(const Statement& statement) {
    using Type = Statement::Kind;
    switch (statement.kind) {
      case Type::text:
        return write(statement.text);
      case Type::output:
        return output(*statement.value);
      case Type::condition:
        return condition(statement);
      case Type::loop:
        return loop(statement);
      case Type::set:
        return set(statement);
      case Type::capture:
        return capture(statement);
      case Type::group:
        return execute(statement.body);
      case Type::loop_break:
        return Flow::loop_break;
      case Type::loop_continue:
        return Flow::loop_continue;
    }
    return Flow::normal;
  }

  Result<Flow> write(std::string_view text) {
    if (out_.size() + text.size() > Budget::kLongest) return limit_error("its output grows beyond 16 MB");
    ORRERY_TRY(budget_.step(static_cast<int64_t>(text.size() / 4096)));
    out_ += text;
    return Flow::normal;
  }

  Result<Flow> output(const Expression& expression) {
    ORRERY_ASSIGN(const Value value, eval(expression));
    if (value.string()) return write(*value.string());
    ORRERY_ASSIGN(const std::string text, to_text(value, budget_));
    return write(text);
  }

  Result<Flow> condition(const Statement& statement) {
    for (const auto& [test, body] : statement.branches) {
      if (test) {
        ORRERY_ASSIGN(const Value value, eval(*test));
        if (!value.truthy()) continue;
      }
      return execute(body);
    }
    return Flow::normal;
  }

  Result<void> bind(const std::vector<std::string>& names, const Value& value) {
    if (names.size() == 1) return assign(names[0], value), Result<void>();
    const List* items = value.list();
    if (!items || items->items.size() != names.size())
      return render_error(fmt::format("a value cannot be taken apart into {} names", names.size()));
    for (size_t i = 0; i < names.size(); ++i) assign(names[i], items->items[i]);
    return {};
  }

  void assign(const std::string& name, Value value) {
    for (auto& [key, old] : scopes_.back())
      if (key == name) {
        old = std::move(value);
        return;
      }
    scopes_.back().emplace_back(name, std::move(value));
  }

  /// The items of a loop that pass its filter.
  Result<std::shared_ptr<const List>> loop_items(const Statement& statement) {
    ORRERY_ASSIGN(const Value value, eval(*statement.value));
    ORRERY_ASSIGN(auto items, iterate(value, budget_));
    if (!statement.filter) return items;
    auto passed = std::make_shared<List>();
    const ScopeGuard scope(scopes_);
    for (const Value& item : items->items) {
      ORRERY_TRY(bind(statement.names, item));
      ORRERY_ASSIGN(const Value keep, eval(*statement.filter));
      if (keep.truthy()) passed->items.push_back(item);
    }
    return std::shared_ptr<const List>(std::move(passed));
  }

  Result<Flow> loop(const Statement& statement) {
    ORRERY_ASSIGN(const auto items, loop_items(statement));
    if (items->items.empty()) return execute(statement.otherwise);
    return turns(statement, items);
  }

  Result<Flow> turns(const Statement& statement, const std::shared_ptr<const List>& items) {
    for (size_t i = 0; i < items->items.size(); ++i) {
      ORRERY_TRY(budget_.step());
      const ScopeGuard scope(scopes_);
      assign("loop", Value(std::shared_ptr<const Loop>(std::make_shared<Loop>(Loop{items, i}))));
      ORRERY_TRY(bind(statement.names, items->items[i]));
      ORRERY_ASSIGN(const Flow flow, execute(statement.body));
      if (flow == Flow::loop_break) break;
    }
    return Flow::normal;
  }

  Result<Flow> set(const Statement& statement) {
    ORRERY_ASSIGN(Value value, eval(*statement.value));
    if (statement.attribute.empty()) {
      ORRERY_TRY(bind(statement.names, value));
      return Flow::normal;
    }
    const Value target = look_up(statement.names[0]);
    if (!target.dict() || !target.dict()->is_namespace)
      return render_error(fmt::format("\"{}\" is not a namespace", statement.names[0]));
    if (value.depth() >= Budget::kDeepest) return limit_error("values are nested too deeply");
    target.dict()->set(statement.attribute, std::move(value));
    return Flow::normal;
  }

  Result<Flow> capture(const Statement& statement) {
    std::string outer = std::move(out_);
    out_.clear();
    auto flow = [&] {
      const ScopeGuard scope(scopes_);
      return execute(statement.body);
    }();
    std::string text = std::move(out_);
    out_ = std::move(outer);
    if (!flow) return flow;
    ORRERY_ASSIGN(Value value, budget_.text(std::move(text)));
    assign(statement.names[0], std::move(value));
    return *flow;
  }

  // ---- expressions

  Value look_up(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      for (const auto& [key, value] : *scope)
        if (key == name) return value;
    if (std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions))
      return Value(Function{name});
    return Value(Undefined{name});
  }

  Result<Value> eval(const Expression& e) {
    ORRERY_TRY(budget_.step());
    auto value = evaluate(e);
    if (!value) return at_line(std::move(value).error(), e.line);
    return value;
  }

  Result<Value> evaluate(const Expression& e) {
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
      case Kind::attribute:
        return attribute(e);
      case Kind::subscript:
        return subscript(e);
      case Kind::slice:
        return slice(e);
      case Kind::call:
        return call(e);
      case Kind::filter:
        return filter(e);
      case Kind::test:
        return test(e);
    }
    return Value();
  }

  Result<Value> list(const Expression& e) {
    std::vector<Value> items;
    for (const auto& child : e.children) {
      ORRERY_ASSIGN(Value item, eval(*child));
      items.push_back(std::move(item));
    }
    return budget_.list(std::move(items), e.text == "tuple");
  }

  Result<Value> dict(const Expression& e) {
    auto made = std::make_shared<Dict>();
    for (size_t i = 0; i + 1 < e.children.size(); i += 2) {
      ORRERY_ASSIGN(const Value key, eval(*e.children[i]));
      ORRERY_ASSIGN(Value value, eval(*e.children[i + 1]));
      ORRERY_ASSIGN(const std::string name, to_text(key, budget_));
      made->set(name, std::move(value));
    }
    if (made->depth > Budget::kDeepest) return limit_error("values are nested too deeply");
    return Value(std::move(made));
  }

  Result<Value> unary(const Expression& e) {
    ORRERY_ASSIGN(const Value value, eval(*e.children[0]));
    if (e.text == "not") return Value(!value.truthy());
    double number = 0;
    if (!value.as_number(number)) return render_error(fmt::format("\"{}\" needs a number", e.text));
    return binary(e.text, Value(int64_t{0}), value, budget_);
  }

  Result<Value> logical(const Expression& e) {
    ORRERY_ASSIGN(const Value left, eval(*e.children[0]));
    if (left.truthy() == (e.text == "or")) return left;
    return eval(*e.children[1]);
  }

  Result<Value> binary_operator(const Expression& e) {
    ORRERY_ASSIGN(const Value left, eval(*e.children[0]));
    ORRERY_ASSIGN(const Value right, eval(*e.children[1]));
    return binary(e.text, left, right, budget_);
  }

  Result<Value> comparison(const Expression& e) {
    ORRERY_ASSIGN(Value left, eval(*e.children[0]));
    for (size_t i = 0; i < e.operators.size(); ++i) {
      ORRERY_ASSIGN(Value right, eval(*e.children[i + 1]));
      ORRERY_ASSIGN(const bool holds, compare(e.operators[i], left, right, budget_));
      if (!holds) return Value(false);
      left = std::move(right);
    }
    return Value(true);
  }

  Result<Value> conditional(const Expression& e) {
    ORRERY_ASSIGN(const Value condition, eval(*e.children[1]));
    if (condition.truthy()) return eval(*e.children[0]);
    return e.children[2] ? eval(*e.children[2]) : Result<Value>(Value(Undefined{"else"}));
  }

  Result<Value> attribute(const Expression& e) {
    ORRERY_ASSIGN(const Value object, eval(*e.children[0]));
    return get_attribute(object, e.text);
  }

  Result<Value> subscript(const Expression& e) {
    ORRERY_ASSIGN(const Value object, eval(*e.children[0]));
    ORRERY_ASSIGN(const Value key, eval(*e.children[1]));
    return get_item(object, key, budget_);
  }

  Result<Value> slice(const Expression& e) {
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

  Result<Arguments> arguments(const Expression& e) {
    Arguments made;
    for (size_t i = 1; i < e.children.size(); ++i) {
      ORRERY_ASSIGN(Value value, eval(*e.children[i]));
      made.positional.push_back(std::move(value));
    }
    for (const auto& [name, expression] : e.named) {
      ORRERY_ASSIGN(Value value, eval(*expression));
      made.named.emplace_back(name, std::move(value));
    }
    return made;
  }

  Result<Value> filter(const Expression& e) {
    ORRERY_ASSIGN(const Value value, eval(*e.children[0]));
    ORRERY_ASSIGN(const Arguments given, arguments(e));
    return apply_filter(e.text, value, given, budget_);
  }

  Result<Value> test(const Expression& e) {
    ORRERY_ASSIGN(const Value value, eval(*e.children[0]));
    ORRERY_ASSIGN(const Arguments given, arguments(e));
    ORRERY_ASSIGN(const bool holds, apply_test(e.text, value, given, budget_));
    return Value(holds);
  }

  Result<Value> call(const Expression& e) {
    const Expression& callee = *e.children[0];
    if (callee.kind == Kind::attribute) {
      ORRERY_ASSIGN(const Value object, eval(*callee.children[0]));
      ORRERY_ASSIGN(const Arguments given, arguments(e));
      return call_method(object, callee.text, given, budget_);
    }
    ORRERY_ASSIGN(const Value target, eval(callee));
    ORRERY_ASSIGN(const Arguments given, arguments(e));
    if (!target.function())
      return render_error(
          fmt::format("\"{}\" is not a function", callee.text.empty() ? "a value" : callee.text));
    return call_function(target.function()->name, given);
  }

  Result<Value> call_function(const std::string& name, const Arguments& given) {
    if (name == "range") return range(given);
    if (name == "raise_exception") {
      const std::string* message = given.string(0, "message");
      return Error{ErrorCode::invalid_argument,
                   "The chat template refuses these messages: " + (message ? *message : "no reason given"),
                   "", "Change the messages as it says"};
    }
    if (name == "strftime_now") return time_now(given);
    auto made = std::make_shared<Dict>();
    made->is_namespace = name == "namespace";
    if (const Value* first = given.find(0, ""); first && first->dict()) made->items = first->dict()->items;
    for (const auto& [key, value] : given.named) made->set(key, value);
    if (made->depth > Budget::kDeepest) return limit_error("values are nested too deeply");
    if (made->is_namespace) namespaces_.push_back(made);
    return Value(std::move(made));
  }

  Result<Value> range(const Arguments& given) {
    int64_t bounds[3] = {0, 0, 1};
    const size_t count = given.positional.size();
    for (size_t i = 0; i < count && i < 3; ++i) {
      int64_t storage = 0;
      const int64_t* number = given.positional[i].as_integer(storage);
      if (!number) return render_error("range needs whole numbers");
      bounds[count == 1 ? 1 : i] = *number;
    }
    const auto [start, stop, step] = bounds;
    if (count == 0 || count > 3 || step == 0)
      return render_error("range needs one to three numbers, the step not 0");
    std::vector<Value> items;
    for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
      ORRERY_TRY(budget_.step());
      items.emplace_back(i);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return budget_.list(std::move(items));
  }

  Result<Value> time_now(const Arguments& given) {
    const std::string* format = given.string(0, "format");
    if (!format || format->size() > 200) return render_error("strftime_now needs a short format");
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char buffer[2048];
    const size_t size = std::strftime(buffer, sizeof buffer, format->c_str(), &local);
    return budget_.text(std::string(buffer, size));
  }

  Budget budget_;
  std::string out_;
  std::vector<Scope> scopes_;
  std::vector<std::shared_ptr<Dict>> namespaces_;
};

}  // namespace

Result<std::string> render(const Block& block, std::vector<std::pair<std::string, Value>> globals) {
  return Evaluator(std::move(globals)).run(block);
}

}  // namespace orrery::text::jinja
