// What SentencePiece models know of their pieces: text, score, kind, and which stand for single bytes.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/text/unicode.h"
#include "engine/text/vocabulary.h"

namespace orrery::text {

/// Numbers as in sentencepiece's model files and in GGUF's tokenizer.ggml.token_type.
enum class PieceType : uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

/// The ids of "<0x00>" to "<0xFF>", -1 where the vocabulary has none.
std::array<TokenId, 256> byte_token_ids(const Vocabulary& vocabulary);
/// The byte that a token written "<0xNN>" stands for, or -1.
int byte_of_token(std::string_view token);

class PieceTable {
 public:
  /// One finite score and one type per token. `unknown` stands for what nothing spells; -1: left out.
  PieceTable(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
             std::vector<PieceType> types, TokenId unknown, bool byte_fallback);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  double score(TokenId id) const { return scores_[static_cast<size_t>(id)]; }
  PieceType type(TokenId id) const { return types_[static_cast<size_t>(id)]; }
  TokenId unknown() const { return unknown_; }
  /// Whether it may spell running text: no control, byte or unknown token.
  bool spells(TokenId id) const {
    return type(id) == PieceType::normal || type(id) == PieceType::user_defined ||
           type(id) == PieceType::unused;
  }
  /// The piece that is written so and spells, or -1.
  TokenId find(std::string_view text) const;
  /// The same of one character, which is looked up at once when it is below U+10000.
  TokenId find_character(std::string_view text, const CodePoint& point) const {
    return point.valid && point.value < characters_.size() ? characters_[point.value] : find(text);
  }
  /// Appends byte tokens for a part that is no piece, or the unknown token unless it would follow another
  /// one that `after_unknown` tells of. Returns whether the unknown token stands for the part.
  bool spell_unknown(std::string_view part, bool after_unknown, std::vector<TokenId>& ids) const;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  std::vector<PieceType> types_;
  std::array<TokenId, 256> byte_ids_;
  TokenId unknown_;
  bool byte_fallback_;
  std::vector<TokenId> characters_;  // by code point; -1: none
};

}  // namespace orrery::text
