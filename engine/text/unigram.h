// The unigram language model: of all ways to spell a word the one with the highest sum of scores.
#pragma once

#include <memory>

#include "engine/text/byte_trie.h"
#include "engine/text/model.h"
#include "engine/text/piece_table.h"

namespace orrery::text {

class Unigram final : public Model {
 public:
  /// Sums are kept in float as sentencepiece does, or in double as the tokenizers library does: close calls
  /// depend on it.
  enum class Precision { single, twofold };
  Unigram(std::shared_ptr<const PieceTable> pieces, Precision precision);
  std::string_view kind() const override { return "unigram"; }
  void encode(std::string_view text, Scratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  template <class Score>
  void find_paths(std::string_view text, std::vector<Scratch::Path>& paths) const;
  std::shared_ptr<const PieceTable> pieces_;
  ByteTrie trie_;               // of the pieces that spell, their ids
  std::vector<double> scores_;  // by id + 1; first that of no piece, below all
  double unknown_score_;
  Precision precision_;
};

}  // namespace orrery::text
