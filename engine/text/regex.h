// One compiled pattern in PCRE2's syntax, with Unicode properties. Thread-safe: all state of a search is
// local to the call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery::text {

class Regex {
 public:
  struct Match {
    size_t begin, end;
  };
  /// A bad pattern is refused with its position.
  static Result<Regex> compile(const std::string& pattern);
  /// A pattern as tokenizer.json writes it, in Oniguruma's dialect: its \s, \w and script names are put as
  /// PCRE2 has to hear them.
  static Result<Regex> compile_oniguruma(std::string_view pattern);
  /// A pattern that matches `text` as it is.
  static Result<Regex> literal(const std::string& text);

  /// All matches from left to right, none empty. Bytes that are not UTF-8 match nothing; a match that exceeds
  /// the work limit ends the search.
  std::vector<Match> find_all(std::string_view text) const;
  std::string replace_all(std::string_view text, std::string_view content) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

}  // namespace orrery::text
