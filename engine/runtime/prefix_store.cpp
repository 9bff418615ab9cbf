#include "engine/runtime/prefix_store.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the word.
uint64_t mixed(uint64_t word) {
  word += 0x9E3779B97F4A7C15U;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

}  // namespace

int64_t shared_tokens(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

uint64_t PrefixStore::hash_after(uint64_t before, std::span<const int32_t> tokens) {
  uint64_t hash = mixed(before);
  for (const int32_t token : tokens) hash = mixed(hash ^ static_cast<uint32_t>(token));
  return hash;
}

const PrefixStore::Known* PrefixStore::find(uint64_t before, std::span<const int32_t> tokens) const {
  const auto it = by_hash_.find(hash_after(before, tokens));
  if (it == by_hash_.end()) return nullptr;
  const Known& known = it->second.known;
  const bool same = known.before == before && std::ranges::equal(known.tokens, tokens);
  return same ? &known : nullptr;
}

std::optional<int32_t> PrefixStore::add(Known known) {
  const uint64_t hash = hash_after(known.before, known.tokens);
  std::optional<int32_t> freed;
  if (const auto it = by_hash_.find(hash); it != by_hash_.end()) {
    Entry& entry = it->second;
    if (entry.known.before != known.before || entry.known.tokens != known.tokens) return {};  // a collision
    if (entry.known.page == known.page) {
      entry.known.epochs = std::move(known.epochs);
      return {};
    }
    if (entry.known.epochs == known.epochs) return {};
    if (entry.unheld) freed = entry.known.page;
    erase(hash);
  }
  forget(known.page);
  by_page_.emplace(known.page, hash);
  by_hash_.emplace(hash, Entry{std::move(known), {}});
  return freed;
}

void PrefixStore::erase(uint64_t hash) {
  const auto it = by_hash_.find(hash);
  if (it->second.unheld) oldest_last_.erase(it->second.place);
  by_page_.erase(it->second.known.page);
  by_hash_.erase(it);
}

void PrefixStore::forget(int32_t page) {
  if (const auto it = by_page_.find(page); it != by_page_.end()) erase(it->second);
}

void PrefixStore::held(int32_t page) {
  const auto it = by_page_.find(page);
  if (it == by_page_.end()) return;
  Entry& entry = by_hash_.at(it->second);
  if (!entry.unheld) return;
  oldest_last_.erase(entry.place);
  entry.unheld = false;
}

void PrefixStore::unheld(int32_t page) {
  Entry& entry = by_hash_.at(by_page_.at(page));
  oldest_last_.push_front(page);
  entry.place = oldest_last_.begin();
  entry.unheld = true;
}

std::optional<int32_t> PrefixStore::take_oldest() {
  if (oldest_last_.empty()) return std::nullopt;
  const int32_t page = oldest_last_.back();
  forget(page);
  return page;
}

}  // namespace orrery::runtime
