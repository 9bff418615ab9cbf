// What cuts a text into the words that a tokenizer's model then sees: steps one after the other, each on the
// segments of the one before. As in tokenizer.json, by the same names. Words are used as they are found: no
// list of them is kept, only of its matches by a step that cuts at a pattern or a kind of character.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/regex.h"

namespace orrery::text {

/// How a match and what lies around it become segments (names of tokenizer.json).
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct Segment {
  std::string_view text;  // never empty
  bool first = false;     // begins where the whole input begins
};

/// Takes segments one after the other, and may keep them until it is told to settle.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  virtual void take(const Segment& segment) = 0;
  /// Uses up what it has kept: the text that it lies in is about to go.
  virtual void settle() = 0;
};

class PreTokenizerStep {
 public:
  virtual ~PreTokenizerStep() = default;
  /// Gives what becomes of `segment` to `out`.
  virtual void split(const Segment& segment, SegmentSink& out) const = 0;
};
using PreTokenizerStepPtr = std::shared_ptr<const PreTokenizerStep>;

class PreTokenizer {
 public:
  void add(PreTokenizerStepPtr step) { steps_.push_back(std::move(step)); }
  void append(const PreTokenizer& other) {
    steps_.insert(steps_.end(), other.steps_.begin(), other.steps_.end());
  }
  /// Gives the words of `text` to `words`, which is settled at the end.
  void split(const Segment& text, SegmentSink& words) const;

 private:
  std::vector<PreTokenizerStepPtr> steps_;
};

/// Cuts at the matches of a pattern. With `invert`, what does not match is what is cut out.
PreTokenizerStepPtr split_step(Regex pattern, SplitBehavior behavior, bool invert);
/// Every match of an Oniguruma pattern by itself, by the pattern's own scanner where it has one.
Result<PreTokenizerStepPtr> isolating_step(std::string_view pattern);
/// Cuts with a scanner of word_scanner.h: every word by itself.
PreTokenizerStepPtr scanner_step(size_t (*next)(std::string_view text, size_t position));
PreTokenizerStepPtr fixed_length_step(size_t characters);

/// Cuts at characters of a kind.
PreTokenizerStepPtr character_step(bool (*matches)(char32_t), SplitBehavior behavior);
PreTokenizerStepPtr delimiter_step(char32_t delimiter);
/// BERT's words: white space goes, punctuation stands alone.
void add_bert_words(PreTokenizer& target);

enum class PrependScheme { always, first, never };
/// Spaces become `replacement`, which is put before a text (by `scheme`); cut before each when `split`.
PreTokenizerStepPtr metaspace_step(std::string replacement, PrependScheme scheme, bool split);
/// A space before each segment that starts with none.
PreTokenizerStepPtr prefix_space_step();
/// Each byte becomes its character of byte_level.h.
PreTokenizerStepPtr byte_characters_step();

}  // namespace orrery::text
