// One compiled pattern that cuts a text into segments. Thread-safe: all state of a match is local to the
// call.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery::text {

/// How a match and what lies around it become segments (names of tokenizer.json).
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

class RegexSplitter {
 public:
  /// PCRE2 syntax with Unicode properties; a bad pattern is refused with its position. With `invert`, what
  /// does not match is what is cut out.
  static Result<RegexSplitter> compile(const std::string& pattern, SplitBehavior behavior,
                                       bool invert = false);
  static Result<RegexSplitter> literal(const std::string& text, SplitBehavior behavior, bool invert = false);

  /// Appends the segments of `text` in order. Unless matches are removed, together they are the text: bytes
  /// that are not UTF-8 match nothing and stay in their segment, and a match that exceeds the work limit ends
  /// the cutting.
  void split(std::string_view text, std::vector<std::string_view>& segments) const;

 private:
  struct Code;
  struct Span {
    size_t begin, end;
    bool match;
  };
  std::vector<Span> find_spans(std::string_view text) const;
  std::shared_ptr<const Code> code_;
  SplitBehavior behavior_ = SplitBehavior::isolated;
  bool invert_ = false;
};

}  // namespace orrery::text
