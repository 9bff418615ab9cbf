// The tokens of a model as they are written in its file, by id and by text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

namespace orrery::text {

class Vocabulary {
 public:
  /// Token i has id i; empty ones are holes that nothing finds. Of equal tokens the last one is found.
  explicit Vocabulary(std::vector<std::string> tokens);

  TokenId find(std::string_view token) const;  // -1: not there
  /// Tokens that were added beside the model's own: no word is spelt with them.
  void keep_from_spelling(const std::vector<TokenId>& ids);
  TokenId find_spelling(std::string_view token) const {
    const TokenId id = find(token);
    return id >= 0 && !added_.empty() && added_[static_cast<size_t>(id)] ? -1 : id;
  }
  bool has(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < tokens_.size(); }
  const std::string& operator[](TokenId id) const { return tokens_[static_cast<size_t>(id)]; }
  size_t size() const { return tokens_.size(); }
  size_t longest() const { return longest_; }  // bytes

 private:
  struct Slot {
    uint32_t hash = 0;
    TokenId id = -1;
  };
  Slot& slot_of(std::string_view token, uint32_t hash);

  std::vector<std::string> tokens_;
  std::vector<Slot> slots_;  // open addressing; a power of two, at most two thirds full
  std::vector<bool> added_;  // by id; empty: none
  size_t longest_ = 0;
};

}  // namespace orrery::text
