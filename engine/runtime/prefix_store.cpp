#include "engine/runtime/prefix_store.h"

#include <algorithm>

namespace orrery::runtime {

int64_t shared_tokens(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

const PrefixStore::Kept* PrefixStore::most_alike(std::span<const int32_t> tokens) {
  auto best = texts_.end();
  int64_t most = 0;
  for (auto it = texts_.begin(); it != texts_.end(); ++it)
    if (const int64_t shared = shared_tokens(it->tokens, tokens); shared > most) {
      most = shared;
      best = it;
    }
  if (best == texts_.end()) return nullptr;
  texts_.splice(texts_.begin(), texts_, best);
  return &texts_.front();
}

std::optional<PrefixStore::Kept> PrefixStore::take_oldest() {
  if (texts_.empty()) return std::nullopt;
  Kept oldest = std::move(texts_.back());
  texts_.pop_back();
  return oldest;
}

std::optional<PrefixStore::Kept> PrefixStore::take_beginning_of(std::span<const int32_t> tokens) {
  const auto found = std::find_if(texts_.begin(), texts_.end(), [&](const Kept& kept) {
    return shared_tokens(kept.tokens, tokens) == static_cast<int64_t>(kept.tokens.size());
  });
  if (found == texts_.end()) return std::nullopt;
  Kept beginning = std::move(*found);
  texts_.erase(found);
  return beginning;
}

}  // namespace orrery::runtime
