// What a model puts around one text or two: BOS, CLS, SEP, and which text a token belongs to.
#pragma once

#include <vector>

#include "engine/text/tokenizer.h"

namespace orrery::text {

struct PostProcessor {
  /// A special token, or the place where a text stands.
  struct Item {
    enum class Kind : uint8_t { token, first_text, second_text };
    Kind kind = Kind::token;
    TokenId id = -1;   // of a token
    int32_t type = 0;  // of the token, or of every token of the text
  };
  std::vector<Item> single{{Item::Kind::first_text}};
  std::vector<Item> pair{{Item::Kind::first_text}, {Item::Kind::second_text, -1, 1}};

  /// before A after; for two texts before A between B after, all from B on of `second_type`.
  static PostProcessor around(const std::vector<TokenId>& before, const std::vector<TokenId>& between,
                              const std::vector<TokenId>& after, int32_t second_type);

  Encoding frame_single(std::vector<TokenId> ids) const;
  /// Cut to `limit` tokens in all first (0: not at all), the longer text before the shorter.
  Encoding frame_pair(std::vector<TokenId> first, std::vector<TokenId> second, size_t limit) const;
};

}  // namespace orrery::text
