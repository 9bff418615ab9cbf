#include "engine/text/bpe.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

// Ids are not negative, so that the all-ones key never is a pair.
constexpr uint64_t kFree = ~uint64_t{0};
constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";

uint64_t key_of(TokenId left, TokenId right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
}

// The standard heap functions keep the greatest first: lowest rank, then leftmost.
bool later(const Bpe::Scratch::Pair& a, const Bpe::Scratch::Pair& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

}  // namespace

MergeTable::MergeTable(size_t expected)
    : slots_(std::bit_ceil(expected * 2 + 16), Slot{kFree, {}}), mask_(slots_.size() - 1) {}

size_t MergeTable::slot_of(uint64_t key) const {
  uint64_t hash = key * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 29;
  size_t slot = hash & mask_;
  while (slots_[slot].key != kFree && slots_[slot].key != key) slot = (slot + 1) & mask_;
  return slot;
}

void MergeTable::insert(TokenId left, TokenId right, Merge merge) {
  Slot& slot = slots_[slot_of(key_of(left, right))];
  if (slot.key == kFree) slot = {key_of(left, right), merge};
}

MergeTable::Merge MergeTable::find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[slot_of(key_of(left, right))];
  return slot.key == kFree ? Merge{} : slot.merge;
}

void Bpe::place_symbols(std::string_view word, TokenId unknown, Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  symbols.clear();
  const auto put = [&](TokenId id) {
    const auto at = static_cast<int32_t>(symbols.size());
    symbols.push_back({id, at - 1, at + 1});
  };
  for (const char c : word) {
    const TokenId id = byte_ids_[static_cast<uint8_t>(c)];
    if (id >= 0) {
      put(id);
    } else if (unknown >= 0) {
      put(unknown);
    } else if (!is_valid_utf8(word)) {
      for (const char r : kReplacementBytes)
        if (const TokenId part = byte_ids_[static_cast<uint8_t>(r)]; part >= 0) put(part);
    }
  }
  if (!symbols.empty()) symbols.back().next = -1;
}

void Bpe::offer(Scratch& scratch, int32_t position) const {
  if (position < 0) return;
  const auto& symbol = scratch.symbols[static_cast<size_t>(position)];
  if (symbol.next < 0) return;
  const TokenId right = scratch.symbols[static_cast<size_t>(symbol.next)].id;
  const MergeTable::Merge merge = merges_.find(symbol.id, right);
  if (merge.rank < 0) return;
  scratch.heap.push_back({merge.rank, position, symbol.id, right, merge.result});
  std::push_heap(scratch.heap.begin(), scratch.heap.end(), later);
}

void Bpe::encode_word(std::string_view word, TokenId unknown, Scratch& scratch,
                      std::vector<TokenId>& ids) const {
  // Positions are 32-bit; a longer word is cut, far from any word that is one.
  constexpr size_t kLongest = std::numeric_limits<int32_t>::max() / 4;
  for (; word.size() > kLongest; word.remove_prefix(kLongest))
    encode_word(word.substr(0, kLongest), unknown, scratch, ids);
  place_symbols(word, unknown, scratch);
  auto& symbols = scratch.symbols;
  if (symbols.empty()) return;
  scratch.heap.clear();
  for (size_t i = 0; i + 1 < symbols.size(); ++i) offer(scratch, static_cast<int32_t>(i));
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), later);
    const Scratch::Pair pair = scratch.heap.back();
    scratch.heap.pop_back();
    auto& left = symbols[static_cast<size_t>(pair.position)];
    // A symbol that was joined since then has another id, or -1.
    if (left.id != pair.left || left.next < 0 || symbols[static_cast<size_t>(left.next)].id != pair.right)
      continue;
    auto& right = symbols[static_cast<size_t>(left.next)];
    left.id = pair.result;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = pair.position;
    offer(scratch, left.previous);
    offer(scratch, pair.position);
  }
  for (int32_t at = 0; at >= 0; at = symbols[static_cast<size_t>(at)].next)
    ids.push_back(symbols[static_cast<size_t>(at)].id);
}

}  // namespace orrery::text
