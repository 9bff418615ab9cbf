// Oniguruma's dialect, which the reference's patterns are written in, put into PCRE2's where the two differ.
#include <algorithm>
#include <array>

#include "engine/text/regex.h"

namespace orrery::text {
namespace {

// PCRE2's \s also takes U+180E, which is no white space, and its \w no marks.
constexpr std::string_view kSpaces =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{"
    "3000}";
constexpr std::string_view kWord = "\\p{L}\\p{M}\\p{Nd}\\p{Pc}";

/// PCRE2 takes a bare script name for its extensions too.
bool is_script(std::string_view name) {
  static constexpr std::array<std::string_view, 14> kScripts = {
      "Han",    "Hiragana", "Katakana", "Hangul", "Latin",      "Cyrillic", "Greek",
      "Arabic", "Hebrew",   "Thai",     "Lao",    "Devanagari", "Bengali",  "Khmer"};
  for (const std::string_view script : kScripts)
    if (script == name) return true;
  return false;
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}
  std::string translate() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        escape();
        continue;
      }
      if (c == '[') ++depth_;
      if (c == ']' && depth_ > 0) --depth_;
      result_ += c;
      ++at_;
      if (c == '[') class_start();
    }
    return std::move(result_);
  }

 private:
  /// "^" and a "]" that stands first belong to the class.
  void class_start() {
    for (const char first : {'^', ']'})
      if (at_ < pattern_.size() && pattern_[at_] == first) result_ += pattern_[at_++];
  }
  void set(std::string_view members, bool negated) {
    if (depth_ > 0 && !negated)
      result_ += members;
    else
      result_.append(negated ? "[^" : "[").append(members).append("]");
  }
  void escape() {
    const char c = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    const bool negated = c == 'S' || c == 'W';
    // A negated set inside a class has no spelling of its own; PCRE2's is nearest.
    if ((c == 's' || c == 'S') && !(negated && depth_ > 0)) {
      set(kSpaces, negated);
    } else if ((c == 'w' || c == 'W') && !(negated && depth_ > 0)) {
      set(kWord, negated);
    } else if (c == 'h') {
      set("0-9a-fA-F", false);
    } else if ((c == 'p' || c == 'P') && at_ + 2 < pattern_.size() && pattern_[at_ + 2] == '{') {
      return property(c);
    } else {
      result_ += pattern_.substr(at_, 2);
    }
    at_ += 2;
  }
  void property(char c) {
    const size_t close = std::min(pattern_.find('}', at_), pattern_.size() - 1);
    std::string_view name = pattern_.substr(at_ + 3, close - at_ - 3);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    if (is_script(name))
      result_.append("\\").append(1, c).append(negated ? "{^sc:" : "{sc:").append(name).append("}");
    else
      result_ += pattern_.substr(at_, close + 1 - at_);
    at_ = close + 1;
  }

  std::string_view pattern_;
  size_t at_ = 0;
  int depth_ = 0;  // of character classes
  std::string result_;
};

}  // namespace

Result<Regex> Regex::compile_oniguruma(std::string_view pattern) {
  return compile(Translator(pattern).translate());
}

}  // namespace orrery::text
