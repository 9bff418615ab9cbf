// Walks the tree of a template. One object renders once: scopes, output and budget are its own.
#pragma once

#include "engine/text/jinja_ast.h"
#include "engine/text/jinja_eval.h"

namespace orrery::text::jinja {

/// Variables of a block; those of the blocks around it are seen through it.
struct Scope {
  std::vector<std::pair<std::string, Value>> variables;
  std::shared_ptr<Scope> around;
  bool kept = false;

  const Value* find(std::string_view name) const;
  void set(const std::string& name, Value value);
};

class Evaluator {
 public:
  explicit Evaluator(const Context& context);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Result<std::string> run(const Block& block);

 private:
  enum class Flow { normal, loop_break, loop_continue };
  static constexpr int kDeepest = 900;  // evaluations within evaluations: the stack holds them

  /// Runs what is in its life in a scope of its own, within `around`.
  class ScopeGuard {
   public:
    ScopeGuard(Evaluator& evaluator, std::shared_ptr<Scope> around);
    explicit ScopeGuard(Evaluator& evaluator) : ScopeGuard(evaluator, evaluator.scope_) {}
    ~ScopeGuard() { evaluator_.scope_ = std::move(before_); }
    ScopeGuard(const ScopeGuard&) = delete;
    ScopeGuard& operator=(const ScopeGuard&) = delete;

   private:
    Evaluator& evaluator_;
    std::shared_ptr<Scope> before_;
  };
  struct Depth {
    explicit Depth(int& value) : value(value) { ++value; }
    ~Depth() { --value; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    int& value;
  };

  // jinja_statements.cpp
  Result<Flow> execute(const Block& block);
  Result<Flow> execute(const Statement& statement);
  Result<Flow> write(std::string_view text);
  Result<Flow> output(const Expression& expression);
  Result<Flow> condition(const Statement& statement);
  Result<Flow> set(const Statement& statement);
  Result<Flow> capture(const Statement& statement);
  Result<Flow> filtered(const Statement& statement);
  Result<Flow> with(const Statement& statement);
  Result<Flow> generation(const Statement& statement);
  Result<Flow> define_macro(const Statement& statement);
  Result<Flow> call_block(const Statement& statement);
  Result<Flow> loop(const Statement& statement, const Value& value, int depth0);
  Result<Flow> turns(const Statement& statement, const std::shared_ptr<Loop>& loop);
  Result<std::shared_ptr<const List>> loop_items(const Statement& statement, const Value& value);
  Result<void> bind(const Target& target, const Value& value);
  /// What the body writes, in a scope of its own within `around` whose variables `prepare` sets.
  template <class Prepare>
  Result<Value> captured(const Block& body, std::shared_ptr<Scope> around, const Prepare& prepare,
                         Flow* flow = nullptr);
  Result<Value> captured_and_filtered(const Statement& statement, Flow& flow);
  std::shared_ptr<Scope> keep_scope();

  // jinja_expressions.cpp
  Result<Value> eval(const Expression& e);
  Result<Value> evaluate(const Expression& e);
  Value look_up(const std::string& name) const;
  Result<Value> list(const Expression& e);
  Result<Value> dict(const Expression& e);
  Result<Value> unary(const Expression& e);
  Result<Value> logical(const Expression& e);
  Result<Value> binary_operator(const Expression& e);
  Result<Value> comparison(const Expression& e);
  Result<Value> conditional(const Expression& e);
  Result<Value> subscript(const Expression& e);
  Result<Value> slice(const Expression& e);
  Result<Value> filter(const Expression& e, const Value* piped);
  Result<Value> test(const Expression& e);
  Result<Arguments> arguments(const Expression& e);
  Result<Value> call(const Expression& e, const Value* caller);

  // jinja_functions.cpp
  Result<Value> call_value(const Value& target, const std::string& name, Arguments given);
  Result<Value> call_macro(const Macro& macro, const Arguments& given);
  Result<void> bind_parameters(const Statement& definition, const Arguments& given);
  Result<Value> call_loop(const Loop& loop, const Arguments& given);
  Result<Value> call_function(const std::string& name, const Arguments& given);
  Result<Value> range(const Arguments& given);
  Result<Value> make_dict(const Arguments& given, bool is_namespace);
  Result<Value> time_now(const Arguments& given);

  const Context& context_;
  Budget budget_;
  std::string out_;
  int depth_ = 0;
  std::shared_ptr<Scope> scope_;
  // Macros and namespaces may hold themselves through these: emptying all of them breaks such circles.
  std::vector<std::shared_ptr<Scope>> kept_scopes_;
  std::vector<std::shared_ptr<Dict>> namespaces_;
};

/// The line where it happened, unless a line within is known.
Error at_line(Error error, int line);
bool is_global_function(std::string_view name);

}  // namespace orrery::text::jinja
