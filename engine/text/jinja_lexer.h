// Cuts a template into text and the tokens of its tags, with Jinja's whitespace control: "-" strips, "+"
// keeps; a newline after a block tag and the indentation before one go (trim_blocks and lstrip_blocks); one
// newline at the very end goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery::text::jinja {

enum class TokenKind {
  text,
  output_begin,
  output_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  floating,
  op,
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  // text, string: the content, escapes resolved; else as written
  int line = 1;
};

Result<std::vector<Token>> tokenize(std::string_view source);

Error syntax_error(int line, std::string what);

}  // namespace orrery::text::jinja
