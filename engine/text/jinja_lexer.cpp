#include "engine/text/jinja_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\v\f";

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Newlines of every system become "\n"; one at the very end is dropped.
std::string unify_newlines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (i + 1 >= source.size() || source[i + 1] != '\n') {
      text += '\n';
    }
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      const size_t tag = find_tag();
      emit_text(tag);
      if (tag == std::string_view::npos) break;
      const char kind = source_[tag + 1];
      advance(tag + 2);
      if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) advance(at_ + 1);
      if (kind == '#') {
        ORRERY_TRY(skip_comment());
      } else if (kind == '%' && is_raw()) {
        ORRERY_TRY(raw_block());
      } else {
        ORRERY_TRY(tag_tokens(kind == '%'));
      }
    }
    put(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  void put(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  void advance(size_t to) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<ptrdiff_t>(at_),
                                         source_.begin() + static_cast<ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  size_t find_tag() const {
    for (size_t i = source_.find('{', at_); i != std::string_view::npos; i = source_.find('{', i + 1))
      if (i + 1 < source_.size() && (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#'))
        return i;
    return std::string_view::npos;
  }

  /// The text up to a tag, less what the tag before and the tag after take of it.
  void emit_text(size_t tag) {
    std::string_view text = source_.substr(at_, tag == std::string_view::npos ? tag : tag - at_);
    const int line = line_;
    const bool line_start = at_ == 0 || source_[at_ - 1] == '\n';
    if (tag != std::string_view::npos) {
      const char kind = source_[tag + 1], control = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
      if (control == '-') {
        text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
      } else if (kind != '{' && control != '+') {
        const size_t newline = text.rfind('\n');
        const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
        if ((newline != std::string_view::npos || line_start) &&
            text.find_first_not_of(kSpaces, begin) == std::string_view::npos)
          text = text.substr(0, begin);
      }
    }
    if (!text.empty()) tokens_.push_back({TokenKind::text, std::string(text), line});
    advance(tag == std::string_view::npos ? source_.size() : tag);
  }

  /// After a tag's end: what it takes of the text that follows.
  void after_tag(bool strip, bool trim_newline) {
    if (strip) {
      advance(std::min(source_.find_first_not_of(kSpaces, at_), source_.size()));
    } else if (trim_newline && at_ < source_.size() && source_[at_] == '\n') {
      advance(at_ + 1);
    }
  }

  Result<void> skip_comment() {
    const size_t end = source_.find("#}", at_);
    if (end == std::string_view::npos) return syntax_error(line_, "a comment is not closed");
    const char control = end > at_ ? source_[end - 1] : '\0';
    advance(end + 2);
    after_tag(control == '-', control != '+');
    return {};
  }

  size_t skip_spaces(size_t from) const {
    return std::min(source_.find_first_not_of(kSpaces, from), source_.size());
  }

  /// Whether a block tag of just this word is at `from`, after its "{%": the place after its end, or npos.
  size_t word_tag(size_t from, std::string_view word, char& control) const {
    from = skip_spaces(from);
    if (source_.substr(from, word.size()) != word) return std::string_view::npos;
    from = skip_spaces(from + word.size());
    control = from < source_.size() ? source_[from] : '\0';
    if (control == '-' || control == '+') ++from;
    return source_.substr(from, 2) == "%}" ? from + 2 : std::string_view::npos;
  }
  bool is_raw() const {
    char control = 0;
    return word_tag(at_, "raw", control) != std::string_view::npos;
  }

  Result<void> raw_block() {
    char control = 0;
    advance(word_tag(at_, "raw", control));
    after_tag(control == '-', false);  // the newline after it belongs to the text
    for (size_t i = source_.find("{%", at_); i != std::string_view::npos; i = source_.find("{%", i + 2)) {
      const bool strip = i + 2 < source_.size() && source_[i + 2] == '-';
      const size_t end = word_tag(i + 2 + (strip ? 1 : 0), "endraw", control);
      if (end == std::string_view::npos) continue;
      std::string_view text = source_.substr(at_, i - at_);
      if (strip) text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
      if (!text.empty()) put(TokenKind::text, std::string(text));
      advance(end);
      after_tag(control == '-', control != '+');
      return {};
    }
    return syntax_error(line_, "a raw block is not closed");
  }

  /// Whether the tag ends here; then `length` is how long its end is.
  bool at_end(bool block, size_t& length) const {
    const std::string_view end = block ? "%}" : "}}";
    const char c = source_[at_];
    const bool control = c == '-' || (block && c == '+');
    length = control ? 3 : 2;
    return source_.substr(at_ + (control ? 1 : 0), 2) == end;
  }

  Result<void> tag_tokens(bool block) {
    put(block ? TokenKind::block_begin : TokenKind::output_begin, "");
    const int opened = line_;
    int depth = 0;  // of brackets: "}}" within them closes dicts
    for (advance(skip_spaces(at_)); at_ < source_.size(); advance(skip_spaces(at_))) {
      size_t length = 0;
      if (depth == 0 && at_end(block, length)) {
        const char control = source_[at_];
        put(block ? TokenKind::block_end : TokenKind::output_end, "");
        advance(at_ + length);
        after_tag(control == '-', block && control != '+');
        return {};
      }
      ORRERY_TRY(one_token());
      const Token& last = tokens_.back();
      if (last.kind == TokenKind::op && std::string_view("([{").find(last.text[0]) != std::string_view::npos)
        ++depth;
      if (last.kind == TokenKind::op && std::string_view(")]}").find(last.text[0]) != std::string_view::npos)
        --depth;
      if (depth < 0) return syntax_error(line_, "a bracket is closed that was not opened");
    }
    return syntax_error(opened, "a tag is not closed");
  }

  Result<void> one_token() {
    const char c = source_[at_];
    if (starts_name(c)) return name_token();
    if (is_digit(c)) return number_token();
    if (c == '\'' || c == '"') return string_token();
    for (const std::string_view op : {"**", "//", "==", "!=", ">=", "<="})
      if (source_.substr(at_, 2) == op) return op_token(2);
    if (std::string_view("+-*/%~<>=.:|,()[]{}").find(c) != std::string_view::npos) return op_token(1);
    return syntax_error(line_,
                        fmt::format("unexpected character \"{}\"",
                                    replace_invalid(source_.substr(at_, code_point_at(source_, at_).bytes))));
  }

  Result<void> op_token(size_t length) {
    put(TokenKind::op, std::string(source_.substr(at_, length)));
    advance(at_ + length);
    return {};
  }

  Result<void> name_token() {
    size_t end = at_;
    while (end < source_.size() && continues_name(source_[end])) ++end;
    put(TokenKind::name, std::string(source_.substr(at_, end - at_)));
    advance(end);
    return {};
  }

  /// 0x1F, 0o17, 0b11: how long it is, or 0.
  size_t prefixed_number() const {
    if (source_[at_] != '0' || at_ + 2 >= source_.size()) return 0;
    const char base = static_cast<char>(source_[at_ + 1] | 32);
    const std::string_view digits = base == 'x'   ? "0123456789abcdefABCDEF_"
                                    : base == 'o' ? "01234567_"
                                    : base == 'b' ? "01_"
                                                  : "";
    const size_t end = std::min(source_.find_first_not_of(digits, at_ + 2), source_.size());
    return digits.empty() || end == at_ + 2 ? 0 : end - at_;
  }

  Result<void> number_token() {
    size_t end = at_ + prefixed_number();
    bool floating = false;
    const auto digits = [&] {
      while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) ++end;
    };
    const auto digit_at = [&](size_t i) { return i < source_.size() && is_digit(source_[i]); };
    const bool prefixed = end > at_;
    if (!prefixed) digits();
    if (!prefixed && end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      floating = true;
      ++end;
      digits();
    }
    if (!prefixed && end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t sign =
          end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+') ? 1 : 0;
      if (digit_at(end + 1 + sign)) {
        floating = true;
        end += 1 + sign;
        digits();
      }
    }
    std::string text(source_.substr(at_, end - at_));
    std::erase(text, '_');
    put(floating ? TokenKind::floating : TokenKind::integer, std::move(text));
    advance(end);
    return {};
  }

  Result<void> string_token() {
    const char quote = source_[at_];
    std::string text;
    size_t i = at_ + 1;
    while (i < source_.size() && source_[i] != quote) {
      if (source_[i] == '\\' && i + 1 < source_.size()) {
        ORRERY_TRY(escape(i, text));
      } else {
        text += source_[i++];
      }
    }
    if (i >= source_.size()) return syntax_error(line_, "a string is not closed");
    put(TokenKind::string, std::move(text));
    advance(i + 1);
    return {};
  }

  /// One backslash sequence at `i`, as Python reads it; unknown ones stay as they are.
  Result<void> escape(size_t& i, std::string& text) {
    const char c = source_[i + 1];
    static constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t simple = kFrom.find(c); simple != std::string_view::npos) {
      text += kTo[simple];
      i += 2;
      return {};
    }
    if (c == '\n') {
      i += 2;
      return {};
    }
    if (c >= '0' && c <= '7') {
      char32_t value = 0;
      for (size_t k = 0; k < 3 && ++i < source_.size() && source_[i] >= '0' && source_[i] <= '7'; ++k)
        value = value * 8 + static_cast<char32_t>(source_[i] - '0');
      if (source_[i] >= '0' && source_[i] <= '7') ++i;
      append_utf8(text, value);
      return {};
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      text += source_[i++];
      return {};
    }
    char32_t value = 0;
    for (size_t k = 0; k < digits; ++k) {
      const char digit = i + 2 + k < source_.size() ? source_[i + 2 + k] : '\0';
      if (!std::isxdigit(static_cast<unsigned char>(digit)))
        return syntax_error(line_, "an escape in a string has too few digits");
      value = value * 16 + static_cast<char32_t>(is_digit(digit) ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    append_utf8(text, value);
    i += 2 + digits;
    return {};
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

Error syntax_error(int line, std::string what) {
  return {ErrorCode::invalid_argument, "The chat template cannot be read: " + std::move(what),
          fmt::format("template line {}", line), "Correct the template, or use another one"};
}

Result<std::vector<Token>> tokenize(std::string_view source) {
  const std::string text = unify_newlines(source);
  return Lexer(text).run();
}

}  // namespace orrery::text::jinja
