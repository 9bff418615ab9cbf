// The tokens of a model as they are written in its file, by id and by text.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/tokenizer.h"

namespace orrery::text {

class Vocabulary {
 public:
  /// Token i has id i; empty ones are holes that nothing finds. Of equal tokens the last one is found.
  explicit Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
    ids_.reserve(tokens_.size());
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (!tokens_[i].empty()) ids_.insert_or_assign(tokens_[i], static_cast<TokenId>(i));
  }
  // The map's keys look into the strings, whose places must not change.
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  TokenId find(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? -1 : found->second;
  }
  bool has(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < tokens_.size(); }
  const std::string& operator[](TokenId id) const { return tokens_[static_cast<size_t>(id)]; }
  size_t size() const { return tokens_.size(); }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string_view, TokenId> ids_;
};

}  // namespace orrery::text
