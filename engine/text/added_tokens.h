// Tokens that are found in the text before anything else cuts it: control tokens ("<|im_start|>") and words a
// model added.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

  void add(AddedToken token);  // an empty content is left out: it would match everywhere
  bool empty() const { return tokens_.empty(); }
  /// Leftmost, then longest. The pieces are `text` in order, less the white space that tokens took.
  std::vector<Piece> split(std::string_view text, bool parse_special) const;

 private:
  const AddedToken* match(std::string_view text, size_t position, bool parse_special) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<uint64_t, uint32_t> edges_;  // (node << 8 | byte) -> node; node 0 is the root
  std::vector<int32_t> token_at_{-1};             // by node: index into tokens_, or -1
  bool starts_[256] = {};
};

}  // namespace orrery::text
