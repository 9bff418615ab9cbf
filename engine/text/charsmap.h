// SentencePiece's compiled table of character rewrites (nmt_nfkc and the like): a double-array trie from
// character sequences to replacements. Both of the ways that it is read are here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/normalizer.h"

namespace orrery::text {

class Charsmap {
 public:
  /// The bytes of precompiled_charsmap: the size of the trie, the trie in 32-bit units, and replacements that
  /// end with a zero byte each. Every step through the trie is checked, so any bytes may be walked.
  static Result<Charsmap> parse(std::string_view bytes);
  static Result<Charsmap> parse_base64(std::string_view text);

  struct Match {
    size_t bytes = 0;  // of the key; 0: nothing matches
    std::string_view replacement;
  };
  Match shortest(std::string_view text) const { return find(text, false); }
  Match longest(std::string_view text) const { return find(text, true); }

 private:
  Match find(std::string_view text, bool longest) const;
  std::optional<uint32_t> unit(size_t position) const;
  std::vector<uint32_t> units_;
  std::string replacements_;
};

/// As the tokenizers library applies it: to grapheme clusters of less than six bytes, else to characters.
NormalizerPtr precompiled_normalizer(Charsmap charsmap);

/// What sentencepiece does to a text.
struct SentencePieceNormalization {
  std::optional<Charsmap> charsmap;
  bool add_prefix = true;           // a space before a text that is not empty
  bool remove_extra_spaces = true;  // at the ends, and all but one of a run
};
NormalizerPtr sentencepiece_normalizer(SentencePieceNormalization options);

}  // namespace orrery::text
