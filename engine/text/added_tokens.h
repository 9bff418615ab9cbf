// Tokens that are found in the text before anything else cuts it: control tokens ("<|im_start|>") and words a
// model added.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/byte_trie.h"
#include "engine/text/tokenizer.h"

namespace orrery::text {

struct AddedToken {
  std::string content;
  TokenId id = -1;
  bool special = true;                           // only found when special tokens are parsed
  bool normalized = false;                       // looked for in the normalised text, where it stands so
  bool single_word = false;                      // only between non-word characters
  bool strip_left = false, strip_right = false;  // takes the white space beside it
};

class AddedTokens {
 public:
  /// A run of plain text (id -1), or one added token.
  struct Piece {
    std::string_view text;
    TokenId id = -1;
  };

  AddedTokens() = default;
  /// Empty contents are left out: they would match everywhere. Of equal ones the last counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);
  /// Leftmost, then longest. The pieces are `text` in order, less the white space that tokens took.
  std::vector<Piece> split(std::string_view text, bool parse_special) const;

 private:
  const AddedToken* match(std::string_view text, size_t position, bool parse_special) const;

  std::vector<AddedToken> tokens_;
  ByteTrie trie_;  // values are places in tokens_
  std::array<bool, 256> starts_{};
  std::array<std::string, 256> heads_;  // by first byte: what all such tokens begin with
};

}  // namespace orrery::text
