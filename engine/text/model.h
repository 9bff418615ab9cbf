// The part of a tokenizer that spells a pre-tokenized word with the tokens of its vocabulary.
#pragma once

#include <string_view>
#include <vector>

#include "engine/text/pre_tokenizer.h"
#include "engine/text/scratch.h"

namespace orrery::text {

class Model {
 public:
  virtual ~Model() = default;
  virtual std::string_view kind() const = 0;  // "byte-level BPE", "SentencePiece BPE", "WordPiece"
  /// Appends the ids of one word. The word may be of any length and need not be UTF-8.
  virtual void encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const = 0;
  /// Cuts a word where its spelling does not change by it; nullptr: words stay whole.
  virtual PreTokenizerStepPtr cuts() const { return nullptr; }
};

}  // namespace orrery::text
