// Jinja expressions, by recursive descent.
#pragma once

#include <initializer_list>

#include "engine/text/jinja_ast.h"
#include "engine/text/jinja_token_cursor.h"

namespace orrery::text::jinja {

class ExpressionParser : public TokenCursor {
 protected:
  using TokenCursor::TokenCursor;

  /// "a, b" without brackets is a tuple.
  Result<ExpressionPtr> tuple_expression();
  Result<ExpressionPtr> expression();
  /// What a loop walks: values without a conditional, which would take the loop's own "if".
  Result<ExpressionPtr> loop_expression();
  /// NAME(arguments)|..., after "{% filter" or "{% set name |": filters of the text that is captured.
  Result<ExpressionPtr> filter_chain();
  Result<ExpressionPtr> postfixed_primary();

  /// What the bodies of the macros around this place name, innermost last.
  std::vector<Signature*> macros_;

 private:
  using Kind = Expression::Kind;
  using Rule = Result<ExpressionPtr> (ExpressionParser::*)();

  Result<ExpressionPtr> tuple_of(Rule item);
  static std::unique_ptr<Expression> make(Kind kind, int line, std::string text = {});
  Result<ExpressionPtr> sealed(std::unique_ptr<Expression> made) const;
  Result<ExpressionPtr> join(Kind kind, int line, std::string text, ExpressionPtr a, ExpressionPtr b) const;
  Result<ExpressionPtr> left_binary(Rule operand, std::initializer_list<std::string_view> operators,
                                    TokenKind kind);
  Result<ExpressionPtr> disjunction();
  Result<ExpressionPtr> conjunction();
  Result<ExpressionPtr> negation();
  std::string comparison_operator();
  Result<ExpressionPtr> comparison();
  Result<ExpressionPtr> additive();
  Result<ExpressionPtr> concatenation();
  Result<ExpressionPtr> product();
  Result<ExpressionPtr> power();
  Result<ExpressionPtr> unary();
  Result<ExpressionPtr> signed_value();
  Result<ExpressionPtr> postfix(ExpressionPtr value, bool filters);
  Result<ExpressionPtr> filter(ExpressionPtr value, int line);
  Result<ExpressionPtr> test(ExpressionPtr value, int line);
  bool starts_argument() const;
  Result<void> arguments(Expression& call);
  Result<void> argument(Expression& call);
  Result<ExpressionPtr> subscript(ExpressionPtr value, int line);
  Result<ExpressionPtr> integer(const Token& token);
  static ExpressionPtr constant(int line, Value value);
  Result<ExpressionPtr> primary();
  Result<ExpressionPtr> string_constant();
  Result<ExpressionPtr> name_or_constant();
  Result<ExpressionPtr> bracketed(std::string_view close, bool list);
  Result<ExpressionPtr> dict();
};

}  // namespace orrery::text::jinja
