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
  /// Leftmost, then longest. take(Piece) gets `text` in order, less the white space that tokens took.
  template <class Take>
  void split(std::string_view text, bool parse_special, Take take) const {
    size_t plain = 0;
    for (Match found; (found = next(text, plain, parse_special)).token != nullptr; plain = found.end) {
      if (found.begin > plain) take(Piece{text.substr(plain, found.begin - plain), -1});
      take(Piece{found.text, found.token->id});
    }
    if (plain < text.size()) take(Piece{text.substr(plain), -1});
  }

 private:
  struct Match {
    const AddedToken* token = nullptr;  // null: none
    std::string_view text;              // as it stands there
    size_t begin = 0, end = 0;          // with the white space that it takes
  };
  const AddedToken* match(std::string_view text, size_t position, bool parse_special) const;
  /// The first one from `from` on.
  Match next(std::string_view text, size_t from, bool parse_special) const;

  std::vector<AddedToken> tokens_;
  ByteTrie trie_;                   // values are places in tokens_
  std::array<bool, 256> starts_{};  // by first byte
};

}  // namespace orrery::text
