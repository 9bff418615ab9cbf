// The ids of short words that were spelt before: most of a text is made of few words.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "engine/text/hash.h"
#include "engine/text/tokenizer.h"

namespace orrery::text {

class WordCache {
 public:
  static constexpr size_t kLongest = 22;  // bytes of a word that is kept
  static constexpr size_t kMostIds = 10;

  /// Appends the ids of a word that is kept, or says no.
  bool find(std::string_view word, uint64_t hash, std::vector<TokenId>& ids) const {
    if (entries_.empty()) return false;
    const Entry& entry = entries_[hash & (kEntries - 1)];
    if (entry.length != word.size() || std::memcmp(entry.word, word.data(), word.size()) != 0) return false;
    ids.insert(ids.end(), entry.ids, entry.ids + entry.count);
    return true;
  }
  /// Asks for the place of a word that is looked up soon.
  void prefetch(uint64_t hash) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[hash & (kEntries - 1)]);
  }
  /// Keeps a word of 1 to kLongest bytes; the one that was in its place is forgotten.
  void store(std::string_view word, uint64_t hash, const TokenId* ids, size_t count) {
    if (count > kMostIds) return;
    if (entries_.empty()) entries_.resize(kEntries);
    Entry& entry = entries_[hash & (kEntries - 1)];
    entry.length = static_cast<uint8_t>(word.size());
    entry.count = static_cast<uint8_t>(count);
    std::memcpy(entry.word, word.data(), word.size());
    if (count > 0) std::memcpy(entry.ids, ids, count * sizeof(TokenId));
  }

 private:
  static constexpr size_t kEntries = 1 << 15;
  struct alignas(64) Entry {  // a cache line
    uint8_t length = 0, count = 0;
    char word[kLongest];
    TokenId ids[kMostIds];
  };
  std::vector<Entry> entries_;  // 2 MB from the first word on
};

}  // namespace orrery::text
