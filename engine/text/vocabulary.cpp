#include "engine/text/vocabulary.h"

#include <algorithm>
#include <bit>

#include "engine/text/hash.h"

namespace orrery::text {

Vocabulary::Vocabulary(std::vector<std::string> tokens)
    : tokens_(std::move(tokens)), slots_(std::bit_ceil(tokens_.size() + tokens_.size() / 2 + 2)) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].empty()) continue;
    const auto hash = static_cast<uint32_t>(hash_bytes(tokens_[i]));
    slot_of(tokens_[i], hash) = {hash, static_cast<TokenId>(i)};
    longest_ = std::max(longest_, tokens_[i].size());
  }
}

Vocabulary::Slot& Vocabulary::slot_of(std::string_view token, uint32_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].id >= 0 &&
         (slots_[at].hash != hash || tokens_[static_cast<size_t>(slots_[at].id)] != token))
    at = (at + 1) & mask;
  return slots_[at];
}

void Vocabulary::keep_from_spelling(const std::vector<TokenId>& ids) {
  if (ids.empty()) return;
  added_.resize(tokens_.size());
  for (const TokenId id : ids) added_[static_cast<size_t>(id)] = true;
}

TokenId Vocabulary::find(std::string_view token) const {
  const auto hash = static_cast<uint32_t>(hash_bytes(token));
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].id >= 0; at = (at + 1) & mask)
    if (slots_[at].hash == hash && tokens_[static_cast<size_t>(slots_[at].id)] == token) return slots_[at].id;
  return -1;
}

}  // namespace orrery::text
