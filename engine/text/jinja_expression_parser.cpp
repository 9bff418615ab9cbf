#include "engine/text/jinja_expression_parser.h"

#include <cerrno>
#include <cstdlib>

namespace orrery::text::jinja {
namespace {

constexpr int kDeepestTree = 400;  // chains (a + b + c, x.y.z) deepen the tree without recursion here

}  // namespace

// ---- nodes, then operators from the loosest to the tightest, then what they join

std::unique_ptr<Expression> ExpressionParser::make(Kind kind, int line, std::string text) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = line;
  made->text = std::move(text);
  return made;
}

/// A whole node, its depth counted: evaluation and destruction recurse over the tree.
Result<ExpressionPtr> ExpressionParser::sealed(std::unique_ptr<Expression> made) const {
  for (const auto& child : made->children)
    if (child) made->depth = std::max(made->depth, child->depth + 1);
  for (const auto& [name, child] : made->named) made->depth = std::max(made->depth, child->depth + 1);
  if (made->depth > kDeepestTree) return error("an expression is too long");
  return ExpressionPtr(std::move(made));
}

Result<ExpressionPtr> ExpressionParser::join(Kind kind, int line, std::string text, ExpressionPtr a,
                                             ExpressionPtr b) const {
  auto made = make(kind, line, std::move(text));
  made->children.push_back(std::move(a));
  if (b) made->children.push_back(std::move(b));
  return sealed(std::move(made));
}

Result<ExpressionPtr> ExpressionParser::tuple_of(Rule item) {
  const int line = peek().line;
  ORRERY_ASSIGN(ExpressionPtr first, (this->*item)());
  if (!is_op(",")) return first;
  auto list = make(Kind::list, line, "tuple");
  list->children.push_back(std::move(first));
  while (take_op(",")) {
    if (peek().kind == TokenKind::block_end || peek().kind == TokenKind::output_end) break;
    ORRERY_ASSIGN(ExpressionPtr next, (this->*item)());
    list->children.push_back(std::move(next));
  }
  return sealed(std::move(list));
}

Result<ExpressionPtr> ExpressionParser::tuple_expression() { return tuple_of(&ExpressionParser::expression); }

Result<ExpressionPtr> ExpressionParser::loop_expression() { return tuple_of(&ExpressionParser::disjunction); }

Result<ExpressionPtr> ExpressionParser::expression() {
  const Depth depth(depth_);
  if (depth_ > kDeepest) return error("nested too deeply");
  ORRERY_ASSIGN(ExpressionPtr value, disjunction());
  while (is_word("if")) {
    auto made = make(Kind::conditional, next().line);
    made->children.push_back(std::move(value));
    ORRERY_ASSIGN(ExpressionPtr condition, disjunction());
    made->children.push_back(std::move(condition));
    ExpressionPtr otherwise;
    if (take_word("else")) {
      ORRERY_ASSIGN(otherwise, expression());
    }
    made->children.push_back(std::move(otherwise));
    ORRERY_ASSIGN(value, sealed(std::move(made)));
  }
  return value;
}

/// operand (op operand)*, from the left. Each repetition nests the tree, so it counts as depth.
Result<ExpressionPtr> ExpressionParser::left_binary(Rule operand,
                                                    std::initializer_list<std::string_view> operators,
                                                    TokenKind kind) {
  ORRERY_ASSIGN(ExpressionPtr value, (this->*operand)());
  for (;;) {
    const Token& token = peek();
    if (token.kind != kind || std::find(operators.begin(), operators.end(), token.text) == operators.end())
      return value;
    const std::string op = next().text;
    const int line = token.line;
    ORRERY_ASSIGN(ExpressionPtr right, (this->*operand)());
    ORRERY_ASSIGN(value, join(Kind::binary, line, op, std::move(value), std::move(right)));
  }
}

Result<ExpressionPtr> ExpressionParser::disjunction() {
  return left_binary(&ExpressionParser::conjunction, {"or"}, TokenKind::name);
}

Result<ExpressionPtr> ExpressionParser::conjunction() {
  return left_binary(&ExpressionParser::negation, {"and"}, TokenKind::name);
}

Result<ExpressionPtr> ExpressionParser::negation() {
  if (!is_word("not")) return comparison();
  const Depth depth(depth_);
  if (depth_ > kDeepest) return error("nested too deeply");
  const int line = next().line;
  ORRERY_ASSIGN(ExpressionPtr value, negation());
  return join(Kind::unary, line, "not", std::move(value), nullptr);
}

std::string ExpressionParser::comparison_operator() {
  for (const std::string_view op : {"==", "!=", "<", "<=", ">", ">="})
    if (take_op(op)) return std::string(op);
  if (take_word("in")) return "in";
  if (is_word("not") && peek(1).kind == TokenKind::name && peek(1).text == "in") {
    next(), next();
    return "not in";
  }
  return {};
}

Result<ExpressionPtr> ExpressionParser::comparison() {
  ORRERY_ASSIGN(ExpressionPtr first, additive());
  std::unique_ptr<Expression> chain;
  const int line = peek().line;
  for (std::string op = comparison_operator(); !op.empty(); op = comparison_operator()) {
    if (!chain) {
      chain = make(Kind::compare, line);
      chain->children.push_back(std::move(first));
    }
    ORRERY_ASSIGN(ExpressionPtr right, additive());
    chain->operators.push_back(std::move(op));
    chain->children.push_back(std::move(right));
  }
  if (!chain) return first;
  return sealed(std::move(chain));
}

Result<ExpressionPtr> ExpressionParser::additive() {
  return left_binary(&ExpressionParser::concatenation, {"+", "-"}, TokenKind::op);
}

Result<ExpressionPtr> ExpressionParser::concatenation() {
  return left_binary(&ExpressionParser::product, {"~"}, TokenKind::op);
}

Result<ExpressionPtr> ExpressionParser::product() {
  return left_binary(&ExpressionParser::power, {"*", "/", "//", "%"}, TokenKind::op);
}

Result<ExpressionPtr> ExpressionParser::power() {
  ORRERY_ASSIGN(ExpressionPtr value, unary());
  while (is_op("**")) {
    const int line = next().line;
    ORRERY_ASSIGN(ExpressionPtr exponent, unary());
    ORRERY_ASSIGN(value, join(Kind::binary, line, "**", std::move(value), std::move(exponent)));
  }
  return value;
}

/// Filters and tests bind looser than a sign, members tighter: -x.y|abs is (-(x.y))|abs.
Result<ExpressionPtr> ExpressionParser::unary() {
  ORRERY_ASSIGN(ExpressionPtr value, signed_value());
  return postfix(std::move(value), true);
}

Result<ExpressionPtr> ExpressionParser::signed_value() {
  const Depth depth(depth_);
  if (depth_ > kDeepest) return error("nested too deeply");
  if (is_op("-") || is_op("+")) {
    const Token& op = next();
    ORRERY_ASSIGN(ExpressionPtr value, signed_value());
    return join(Kind::unary, op.line, op.text, std::move(value), nullptr);
  }
  return postfixed_primary();
}

/// .name [item] (arguments), then, where `filters`, also |filter and "is test".
Result<ExpressionPtr> ExpressionParser::postfix(ExpressionPtr value, bool filters) {
  for (;;) {
    const int line = peek().line;
    if (take_op(".")) {
      if (peek().kind != TokenKind::name && peek().kind != TokenKind::integer) return unexpected("a name");
      const Token& name = next();
      if (name.kind == TokenKind::name) {
        ORRERY_ASSIGN(value, join(Kind::attribute, line, name.text, std::move(value), nullptr));
      } else {
        ORRERY_ASSIGN(ExpressionPtr index, integer(name));
        ORRERY_ASSIGN(value, join(Kind::subscript, line, "", std::move(value), std::move(index)));
      }
    } else if (take_op("[")) {
      ORRERY_ASSIGN(value, subscript(std::move(value), line));
    } else if (take_op("(")) {
      auto call = make(Kind::call, line);
      call->children.push_back(std::move(value));
      ORRERY_TRY(arguments(*call));
      ORRERY_ASSIGN(value, sealed(std::move(call)));
    } else if (filters && take_op("|")) {
      ORRERY_ASSIGN(value, filter(std::move(value), line));
    } else if (filters && take_word("is")) {
      ORRERY_ASSIGN(value, test(std::move(value), line));
    } else {
      return value;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::filter(ExpressionPtr value, int line) {
  ORRERY_ASSIGN(std::string name, need_name());
  while (take_op(".")) {
    ORRERY_ASSIGN(const std::string part, need_name());
    name += "." + part;
  }
  auto made = make(Kind::filter, line, std::move(name));
  made->children.push_back(std::move(value));
  if (take_op("(")) ORRERY_TRY(arguments(*made));
  return sealed(std::move(made));
}

Result<ExpressionPtr> ExpressionParser::filter_chain() {
  ExpressionPtr chain;
  do {
    ORRERY_ASSIGN(chain, filter(std::move(chain), peek().line));
  } while (take_op("|"));
  return chain;
}

Result<ExpressionPtr> ExpressionParser::postfixed_primary() {
  ORRERY_ASSIGN(ExpressionPtr value, primary());
  return postfix(std::move(value), false);
}

Result<ExpressionPtr> ExpressionParser::test(ExpressionPtr value, int line) {
  const bool negated = take_word("not");
  ORRERY_ASSIGN(std::string name, need_name());
  auto made = make(Kind::test, line, std::move(name));
  made->children.push_back(std::move(value));
  if (take_op("(")) {
    ORRERY_TRY(arguments(*made));
  } else if (starts_argument()) {  // "is divisibleby 3"
    ORRERY_ASSIGN(ExpressionPtr argument, postfixed_primary());
    made->children.push_back(std::move(argument));
  }
  ORRERY_ASSIGN(ExpressionPtr whole, sealed(std::move(made)));
  if (!negated) return whole;
  return join(Kind::unary, line, "not", std::move(whole), nullptr);
}

bool ExpressionParser::starts_argument() const {
  const Token& token = peek();
  if (token.kind == TokenKind::name)
    return token.text != "else" && token.text != "and" && token.text != "or" && token.text != "if" &&
           token.text != "is" && token.text != "in" && token.text != "not";
  return token.kind == TokenKind::string || token.kind == TokenKind::integer ||
         token.kind == TokenKind::floating ||
         (token.kind == TokenKind::op && (token.text == "[" || token.text == "{"));
}

/// Behind "(": values, name=value, *values and **names, to ")".
Result<void> ExpressionParser::arguments(Expression& call) {
  while (!take_op(")")) {
    ORRERY_TRY(argument(call));
    if (!is_op(")")) ORRERY_TRY(need_op(","));
  }
  return {};
}

Result<void> ExpressionParser::argument(Expression& call) {
  if (peek().kind == TokenKind::name && peek(1).kind == TokenKind::op && peek(1).text == "=") {
    std::string name = next().text;
    next();
    ORRERY_ASSIGN(ExpressionPtr value, expression());
    call.named.emplace_back(std::move(name), std::move(value));
  } else if (take_op("**")) {
    ORRERY_ASSIGN(ExpressionPtr value, expression());
    call.named.emplace_back("", std::move(value));
  } else {
    const int line = peek().line;
    const bool spread = take_op("*");
    ORRERY_ASSIGN(ExpressionPtr value, expression());
    if (spread) {
      ORRERY_ASSIGN(value, join(Kind::spread, line, "", std::move(value), nullptr));
    }
    call.children.push_back(std::move(value));
  }
  return {};
}

/// Behind "[": one index, or up to three parts of a slice.
Result<ExpressionPtr> ExpressionParser::subscript(ExpressionPtr value, int line) {
  std::vector<ExpressionPtr> parts(1);
  bool slice = false;
  while (!is_op("]")) {
    if (take_op(":")) {
      slice = true;
      parts.emplace_back();
      if (parts.size() > 3) return error("a slice has more than three parts");
    } else if (parts.back()) {
      return unexpected("\"]\"");
    } else {
      ORRERY_ASSIGN(parts.back(), expression());
    }
  }
  next();
  if (!slice && !parts[0]) return unexpected("an index");
  auto made = make(slice ? Kind::slice : Kind::subscript, line);
  made->children.push_back(std::move(value));
  parts.resize(slice ? 3 : 1);
  for (auto& part : parts) made->children.push_back(std::move(part));
  return sealed(std::move(made));
}

Result<ExpressionPtr> ExpressionParser::integer(const Token& token) {
  static constexpr std::pair<std::string_view, int> kBases[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}};
  int base = 10;
  for (const auto& [prefix, of_prefix] : kBases)
    if (token.text.size() > 2 && token.text[0] == '0' && (token.text[1] | 32) == prefix[1]) base = of_prefix;
  errno = 0;
  const long long number = std::strtoll(token.text.c_str() + (base == 10 ? 0 : 2), nullptr, base);
  if (errno == ERANGE)
    return syntax_error(token.line, "the number " + token.text.substr(0, 40) + " is too large");
  return constant(token.line, Value(static_cast<int64_t>(number)));
}

ExpressionPtr ExpressionParser::constant(int line, Value value) {
  auto made = make(Kind::constant, line);
  made->value = std::move(value);
  return made;
}

Result<ExpressionPtr> ExpressionParser::primary() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::string:
      return string_constant();
    case TokenKind::integer:
      return integer(next());
    case TokenKind::floating:
      return constant(token.line, Value(std::strtod(next().text.c_str(), nullptr)));
    case TokenKind::name:
      return name_or_constant();
    case TokenKind::op:
      if (take_op("(")) return bracketed(")", false);
      if (take_op("[")) return bracketed("]", true);
      if (take_op("{")) return dict();
      break;
    default:
      break;
  }
  return unexpected("a value");
}

/// Neighbouring strings join, as in Python.
Result<ExpressionPtr> ExpressionParser::string_constant() {
  const int line = peek().line;
  std::string text;
  while (peek().kind == TokenKind::string) text += next().text;
  return constant(line, Value(std::move(text)));
}

Result<ExpressionPtr> ExpressionParser::name_or_constant() {
  const Token& token = next();
  const std::string& word = token.text;
  if (word == "true" || word == "True") return constant(token.line, Value(true));
  if (word == "false" || word == "False") return constant(token.line, Value(false));
  if (word == "none" || word == "None") return constant(token.line, Value(None{}));
  for (Signature* macro : macros_) {
    macro->varargs |= word == "varargs";
    macro->kwargs |= word == "kwargs";
    macro->caller |= word == "caller";
  }
  return ExpressionPtr(make(Kind::name, token.line, word));
}

/// (a) is a; (a, b), (a,) and () are tuples; [..] is a list.
Result<ExpressionPtr> ExpressionParser::bracketed(std::string_view close, bool list) {
  auto made = make(Kind::list, peek().line, list ? "" : "tuple");
  while (!take_op(close)) {
    ORRERY_ASSIGN(ExpressionPtr item, expression());
    made->children.push_back(std::move(item));
    if (is_op(close)) continue;
    ORRERY_TRY(need_op(","));
    list = true;
  }
  if (list || made->children.empty()) return sealed(std::move(made));
  return std::move(made->children.front());
}

Result<ExpressionPtr> ExpressionParser::dict() {
  auto made = make(Kind::dict, peek().line);
  while (!take_op("}")) {
    ORRERY_ASSIGN(ExpressionPtr key, expression());
    ORRERY_TRY(need_op(":"));
    ORRERY_ASSIGN(ExpressionPtr value, expression());
    made->children.push_back(std::move(key));
    made->children.push_back(std::move(value));
    if (!is_op("}")) ORRERY_TRY(need_op(","));
  }
  return sealed(std::move(made));
}

}  // namespace orrery::text::jinja
