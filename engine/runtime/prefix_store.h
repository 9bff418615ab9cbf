// What ended sequences held in a KV cache: their tokens by page, the least recently used goes first. It only
// remembers; the cache counts who holds which page.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

namespace orrery::runtime {

/// The part of a sequence that lives in a cache.
struct KvPages {
  uint64_t cache = 0;  // id of the cache that the pages belong to; 0: none
  std::vector<int32_t> pages;
  struct Valid {
    uint64_t epoch = 0;  // of the slot, when the tokens were written
    int64_t tokens = 0;
  };
  std::vector<Valid> valid;  // by slot
};

class PrefixStore {
 public:
  /// So many texts are kept at most.
  static constexpr size_t kMostTexts = 16;

  struct Kept {
    std::vector<int32_t> tokens;  // of whole pages
    KvPages kv;
  };
  /// The one that shares most tokens with a text from the begin, which then counts as used; null: none.
  const Kept* most_alike(std::span<const int32_t> tokens);
  void add(Kept kept) { texts_.push_front(std::move(kept)); }
  /// The least recently used, or the one that `tokens` go on from (it would hold nothing of its own).
  std::optional<Kept> take_oldest();
  std::optional<Kept> take_beginning_of(std::span<const int32_t> tokens);
  size_t size() const { return texts_.size(); }

 private:
  std::list<Kept> texts_;  // used last, first
};

/// How many tokens two texts share from the begin.
int64_t shared_tokens(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace orrery::runtime
