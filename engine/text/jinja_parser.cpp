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
      statement->kind = Statement::Kind::text;
      statement->text = next().text;
    } else if (peek().kind == TokenKind::output_begin) {
      next();
      statement->kind = Statement::Kind::output;
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
    ORRERY_ASSIGN(const std::string word, need_name());
    if (word == "if") return if_tag(statement);
    if (word == "for") return for_tag(statement);
    if (word == "set") return set_tag(statement);
    if (word == "generation") {
      statement.kind = Statement::Kind::group;
      return body_to(statement.body, "endgeneration");
    }
    if (word == "break" || word == "continue") {
      if (loops_ == 0) return error("\"" + word + "\" stands outside a loop");
      statement.kind = word == "break" ? Statement::Kind::loop_break : Statement::Kind::loop_continue;
      return need_block_end();
    }
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
    statement.kind = Statement::Kind::condition;
    for (bool more = true; more;) {
      ORRERY_ASSIGN(ExpressionPtr condition, expression());
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

  Result<void> target_names(Statement& statement) {
    const bool bracket = take_op("(");
    do {
      ORRERY_ASSIGN(std::string name, need_name());
      statement.names.push_back(std::move(name));
    } while (take_op(","));
    return bracket ? need_op(")") : Result<void>();
  }

  Result<void> for_tag(Statement& statement) {
    statement.kind = Statement::Kind::loop;
    ORRERY_TRY(target_names(statement));
    if (!take_word("in")) return unexpected("\"in\"");
    ORRERY_ASSIGN(statement.value, disjunction());  // a conditional would take the loop's own "if"
    if (take_word("if")) {
      ORRERY_ASSIGN(statement.filter, expression());
    }
    if (is_word("recursive")) return error("recursive loops are not supported");
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

  Result<void> set_tag(Statement& statement) {
    ORRERY_TRY(target_names(statement));
    if (statement.names.size() == 1 && take_op(".")) {
      ORRERY_ASSIGN(statement.attribute, need_name());
    }
    if (!take_op("=")) {
      if (statement.names.size() != 1 || !statement.attribute.empty()) return unexpected("\"=\"");
      statement.kind = Statement::Kind::capture;
      return body_to(statement.body, "endset");
    }
    statement.kind = Statement::Kind::set;
    ORRERY_ASSIGN(statement.value, tuple_expression());
    return need_block_end();
  }

  int loops_ = 0;  // around the place
};

}  // namespace

Result<Block> parse(std::string_view source) {
  ORRERY_ASSIGN(std::vector<Token> tokens, tokenize(source));
  return Parser(std::move(tokens)).run();
}

}  // namespace orrery::text::jinja
