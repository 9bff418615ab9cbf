// Walking over the tokens of a template, for its parsers.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_lexer.h"

namespace orrery::text::jinja {

class TokenCursor {
 public:
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  static constexpr int kDeepest = 150;  // of statements and of expressions, together

  // Counts how deep the parser is in itself, so that no template exhausts the stack.
  struct Depth {
    explicit Depth(int& value) : value(value) { ++value; }
    ~Depth() { --value; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    int& value;
  };

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_op(std::string_view op) const { return peek().kind == TokenKind::op && peek().text == op; }
  bool is_word(std::string_view word) const { return peek().kind == TokenKind::name && peek().text == word; }
  bool take_op(std::string_view op) { return is_op(op) ? (next(), true) : false; }
  bool take_word(std::string_view word) { return is_word(word) ? (next(), true) : false; }

  Error error(std::string what) const { return syntax_error(peek().line, std::move(what)); }
  Error unexpected(std::string_view wanted) const {
    const Token& token = peek();
    const std::string found = token.kind == TokenKind::end          ? "the end of the template"
                              : token.kind == TokenKind::block_end  ? "\"%}\""
                              : token.kind == TokenKind::output_end ? "\"}}\""
                                                                    : "\"" + token.text.substr(0, 40) + "\"";
    return error(fmt::format("{} was expected, not {}", wanted, found));
  }
  Result<void> need_op(std::string_view op) {
    if (!take_op(op)) return unexpected("\"" + std::string(op) + "\"");
    return {};
  }
  Result<std::string> need_name() {
    if (peek().kind != TokenKind::name) return unexpected("a name");
    return next().text;
  }
  Result<void> need_block_end() {
    if (peek().kind != TokenKind::block_end) return unexpected("\"%}\"");
    next();
    return {};
  }

  int depth_ = 0;

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace orrery::text::jinja
