#include "engine/text/jinja_parser.h"

#include "engine/text/jinja_expression_parser.h"

namespace orrery::text::jinja {
namespace {

class Parser : public ExpressionParser {
 public:
  explicit Parser(std::vector<Token> tokens) : ExpressionParser(std::move(tokens)) {}

  Result<Block> run() {
    ORRERY_ASSIGN(Block block, statements({}));
    return block;
  }

 private:
  using Words = std::vector<std::string_view>;
  using Type = Statement::Kind;

  /// Up to a block tag whose first word is one of `ends`, which stays (its "{%" is taken); without ends, to
  /// the end.
  Result<Block> statements(const Words& ends) {
    const Depth depth(depth_);
    if (depth_ > kDeepest) return error("nested too deeply");
    Block block;
    for (;;) {
      const Token& token = peek();
      if (token.kind == TokenKind::end) {
        if (!ends.empty()) return error(fmt::format("\"{}\" is missing", ends.back()));
        return block;
      }
      if (token.kind == TokenKind::block_begin &&
          std::find(ends.begin(), ends.end(), peek(1).text) != ends.end() &&
          peek(1).kind == TokenKind::name) {
        next();
        return block;
      }
      ORRERY_ASSIGN(auto statement, one_statement());
      block.push_back(std::move(statement));
    }
  }

  Result<std::unique_ptr<const Statement>> one_statement() {
    auto statement = std::make_unique<Statement>();
    statement->line = peek().line;
    if (peek().kind == TokenKind::text) {
      statement->kind = Type::text;
      statement->text = next().text;
    } else if (peek().kind == TokenKind::output_begin) {
      next();
      statement->kind = Type::output;
      ORRERY_ASSIGN(statement->value, tuple_expression());
      if (peek().kind != TokenKind::output_end) return unexpected("\"}}\"");
      next();
    } else {
      next();
      ORRERY_TRY(tag(*statement));
    }
    return std::unique_ptr<const Statement>(std::move(statement));
  }

  Result<void> tag(Statement& statement) {
    static constexpr std::pair<std::string_view, Result<void> (Parser::*)(Statement&)> kTags[] = {
        {"if", &Parser::if_tag},           {"for", &Parser::for_tag},
        {"set", &Parser::set_tag},         {"macro", &Parser::macro_tag},
        {"call", &Parser::call_tag},       {"filter", &Parser::filter_tag},
        {"with", &Parser::with_tag},       {"generation", &Parser::generation_tag},
        {"break", &Parser::loop_exit_tag}, {"continue", &Parser::loop_exit_tag}};
    if (peek().kind == TokenKind::name)
      for (const auto& [word, read] : kTags)
        if (is_word(word)) return (this->*read)(statement);
    ORRERY_ASSIGN(const std::string word, need_name());
    for (const std::string_view other : {"include", "import", "from", "extends", "block"})
      if (word == other)
        return syntax_error(statement.line,
                            "\"" + word + "\" needs other templates, which there are none of");
    return syntax_error(statement.line,
                        "the tag \"" + word.substr(0, 40) + "\" is not supported or has no opening");
  }

  Result<void> body_to(Block& body, std::string_view end) {
    ORRERY_TRY(need_block_end());
    ORRERY_ASSIGN(body, statements({end}));
    next();
    return need_block_end();
  }

  Result<void> if_tag(Statement& statement) {
    statement.kind = Type::condition;
    next();
    for (bool more = true; more;) {
      ORRERY_ASSIGN(ExpressionPtr condition, tuple_expression());
      ORRERY_TRY(need_block_end());
      ORRERY_ASSIGN(Block body, statements({"elif", "else", "endif"}));
      statement.branches.emplace_back(std::move(condition), std::move(body));
      more = take_word("elif");
    }
    if (take_word("else")) {
      ORRERY_TRY(need_block_end());
      ORRERY_ASSIGN(Block body, statements({"endif"}));
      statement.branches.emplace_back(nullptr, std::move(body));
    }
    next();
    return need_block_end();
  }

  /// name, namespace.attribute, or "(a, b)"; commas outside brackets are for the caller.
  Result<Target> one_target(bool attributes) {
    const Depth depth(depth_);
    if (depth_ > kDeepest) return error("nested too deeply");
    Target target;
    if (take_op("(")) {
      ORRERY_ASSIGN(target, target_list(attributes));
      ORRERY_TRY(need_op(")"));
      return target;
    }
    ORRERY_ASSIGN(target.name, need_name());
    if (attributes && take_op(".")) {
      ORRERY_ASSIGN(target.attribute, need_name());
    }
    return target;
  }

  Result<Target> target_list(bool attributes) {
    ORRERY_ASSIGN(Target first, one_target(attributes));
    if (!is_op(",")) return first;
    Target target;
    target.parts.push_back(std::move(first));
    while (take_op(",") && (peek().kind == TokenKind::name || is_op("(")) && !is_word("in")) {
      ORRERY_ASSIGN(Target part, one_target(attributes));
      target.parts.push_back(std::move(part));
    }
    return target;
  }

  Result<void> for_tag(Statement& statement) {
    statement.kind = Type::loop;
    next();
    ORRERY_ASSIGN(statement.target, target_list(false));
    if (!take_word("in")) return unexpected("\"in\"");
    ORRERY_ASSIGN(statement.value, loop_expression());
    if (take_word("if")) {
      ORRERY_ASSIGN(statement.filter, expression());
    }
    statement.recursive = take_word("recursive");
    ORRERY_TRY(need_block_end());
    ++loops_;
    auto body = statements({"else", "endfor"});
    --loops_;
    if (!body) return std::move(body).error();
    statement.body = std::move(body).value();
    if (take_word("else")) {
      ORRERY_TRY(need_block_end());
      ORRERY_ASSIGN(statement.otherwise, statements({"endfor"}));
    }
    next();
    return need_block_end();
  }

  Result<void> loop_exit_tag(Statement& statement) {
    const std::string word = next().text;
    if (loops_ == 0) return error("\"" + word + "\" stands outside a loop");
    statement.kind = word == "break" ? Type::loop_break : Type::loop_continue;
    return need_block_end();
  }

  Result<void> set_tag(Statement& statement) {
    next();
    ORRERY_ASSIGN(statement.target, target_list(true));
    if (!take_op("=")) {
      if (!statement.target.parts.empty()) return unexpected("\"=\"");
      statement.kind = Type::capture;
      if (take_op("|")) {
        ORRERY_ASSIGN(statement.filter, filter_chain());
      }
      return body_to(statement.body, "endset");
    }
    statement.kind = Type::set;
    ORRERY_ASSIGN(statement.value, tuple_expression());
    return need_block_end();
  }

  /// Behind "(": names, the last of them with "= default", to ")".
  Result<void> signature(Signature& signature) {
    while (!take_op(")")) {
      ORRERY_ASSIGN(std::string name, need_name());
      signature.names.push_back(std::move(name));
      if (take_op("=")) {
        ORRERY_ASSIGN(ExpressionPtr fallback, expression());
        signature.defaults.push_back(std::move(fallback));
      } else if (!signature.defaults.empty()) {
        return error("a parameter without a default follows one with a default");
      }
      if (!is_op(")")) ORRERY_TRY(need_op(","));
    }
    return {};
  }

  /// A body that runs later, so that loops around it cannot be left from it.
  Result<void> macro_body(Statement& statement, std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    macros_.push_back(&statement.signature);
    auto body = body_to(statement.body, end);
    macros_.pop_back();
    loops_ = loops;
    return body;
  }

  Result<void> macro_tag(Statement& statement) {
    statement.kind = Type::macro;
    next();
    ORRERY_ASSIGN(statement.text, need_name());
    ORRERY_TRY(need_op("("));
    ORRERY_TRY(signature(statement.signature));
    return macro_body(statement, "endmacro");
  }

  Result<void> call_tag(Statement& statement) {
    statement.kind = Type::call;
    next();
    if (take_op("(")) ORRERY_TRY(signature(statement.signature));
    ORRERY_ASSIGN(statement.value, postfixed_primary());
    if (statement.value->kind != Expression::Kind::call) return unexpected("a call");
    return macro_body(statement, "endcall");
  }

  Result<void> filter_tag(Statement& statement) {
    statement.kind = Type::filtered;
    next();
    ORRERY_ASSIGN(statement.filter, filter_chain());
    return body_to(statement.body, "endfilter");
  }

  Result<void> with_tag(Statement& statement) {
    statement.kind = Type::with;
    next();
    while (peek().kind != TokenKind::block_end) {
      if (!statement.bindings.empty()) ORRERY_TRY(need_op(","));
      ORRERY_ASSIGN(Target target, one_target(false));
      ORRERY_TRY(need_op("="));
      ORRERY_ASSIGN(ExpressionPtr value, expression());
      statement.bindings.emplace_back(std::move(target), std::move(value));
    }
    return body_to(statement.body, "endwith");
  }

  Result<void> generation_tag(Statement& statement) {
    statement.kind = Type::generation;
    next();
    return body_to(statement.body, "endgeneration");
  }

  int loops_ = 0;  // around the place
};

}  // namespace

Result<Block> parse(std::string_view source) {
  ORRERY_ASSIGN(std::vector<Token> tokens, tokenize(source));
  return Parser(std::move(tokens)).run();
}

}  // namespace orrery::text::jinja
