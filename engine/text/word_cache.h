// The ids of short words that were spelt before: most of a text is made of few words.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/text/hash.h"
#include "engine/text/tokenizer.h"

namespace orrery::text {

class WordCache {
 public:
  static constexpr size_t kLongest = 23;  // bytes of a word that is kept
  static constexpr size_t kMostIds = 9;

  /// A word of 1 to kLongest bytes: the bytes, zeros, and the count of bytes in the last.
  struct Key {
    uint64_t parts[3] = {};
    uint64_t hash = 0;

    Key() = default;
    explicit Key(std::string_view word) {
      size_t part = 0, begin = 0;
      for (; begin + 8 <= word.size(); begin += 8) parts[part++] = load_eight(word.data() + begin);
      parts[part] = load_few(word.data() + begin, word.size() - begin);
      parts[2] |= static_cast<uint64_t>(word.size()) << 56;
      hash = mix(mix(mix(parts[0]) ^ parts[1]) ^ parts[2]);
    }
  };

  /// Appends the ids of a word that is kept, or says no.
  bool find(const Key& key, std::vector<TokenId>& ids) const {
    if (entries_.empty()) return false;
    const size_t place = place_of(key);
    for (const Entry* entry : {&entries_[place], &entries_[place ^ 1]}) {
      if (!std::equal(key.parts, key.parts + 3, entry->parts)) continue;
      ids.insert(ids.end(), entry->ids, entry->ids + entry->count);
      return true;
    }
    return false;
  }
  /// Asks for the place of a word that is looked up soon.
  void prefetch(const Key& key) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[place_of(key)]);
  }
  /// Keeps a word. The one that was in its place goes to the neighbouring one, whose word is forgotten.
  void store(const Key& key, const TokenId* ids, size_t count) {
    if (count > kMostIds) return;
    if (entries_.empty()) entries_.resize(kEntries);
    const size_t place = place_of(key);
    Entry& entry = entries_[place];
    if (entry.parts[2] != 0) entries_[place ^ 1] = entry;
    std::copy(key.parts, key.parts + 3, entry.parts);
    entry.count = static_cast<uint32_t>(count);
    std::copy(ids, ids + count, entry.ids);
  }

 private:
  static constexpr size_t kEntries = 1 << 15;
  static size_t place_of(const Key& key) { return key.hash & (kEntries - 1); }
  struct alignas(64) Entry {  // a cache line
    uint64_t parts[3] = {};   // as in Key; all zero: none
    uint32_t count = 0;
    TokenId ids[kMostIds] = {};
  };
  std::vector<Entry> entries_;  // 2 MB from the first word on
};

}  // namespace orrery::text
