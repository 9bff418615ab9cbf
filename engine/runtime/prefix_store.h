// Which page of a KV cache holds which tokens: pages by the hash of their tokens and of all before them, so
// that a text finds what others have read of it in as many look-ups as it has pages. Pages that no sequence
// holds any more are in order of use: the least recently used goes first. It only remembers; the cache counts
// who holds which page.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
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
  std::vector<Valid> valid;      // by slot
  std::vector<uint64_t> hashes;  // of the first pages: those that the store was told of
  int32_t record = -1;           // number of its own summaries; -1: it has none
  int64_t recorded = 0;          // tokens that they are of; 0: they hold nothing yet
};

class PrefixStore {
 public:
  /// Of a page's tokens and what is before them; the first page of a text follows 0.
  static uint64_t hash_after(uint64_t before, std::span<const int32_t> tokens);

  struct Known {
    int32_t page = 0;
    uint64_t before = 0;  // the hash that it follows
    std::vector<int32_t> tokens;
    std::vector<uint64_t> epochs;  // by slot, of what the page holds; 0: nothing
  };
  /// Null when no page is known that holds just these tokens after `before`.
  const Known* find(uint64_t before, std::span<const int32_t> tokens) const;
  /// Remembers a page that a sequence holds. A page with the same tokens gives its place up where it holds
  /// other epochs; it is returned when it was kept for this place alone, and so is free now.
  std::optional<int32_t> add(Known known);
  /// Its tokens are about to change.
  void forget(int32_t page);

  // Who holds a page is told, so that the store knows what may go.
  bool knows(int32_t page) const { return by_page_.count(page) > 0; }
  void held(int32_t page);    // a sequence holds it again
  void unheld(int32_t page);  // no sequence does: it is now the last to go
  /// Forgets the least recently used page that nobody holds.
  std::optional<int32_t> take_oldest();
  size_t unheld_pages() const { return oldest_last_.size(); }

 private:
  struct Entry {
    Known known;
    std::list<int32_t>::iterator place;  // in oldest_last_, if it is unheld
    bool unheld = false;
  };
  void erase(uint64_t hash);

  std::unordered_map<uint64_t, Entry> by_hash_;
  std::unordered_map<int32_t, uint64_t> by_page_;
  std::list<int32_t> oldest_last_;
};

/// How many tokens two texts share from the beginning.
int64_t shared_tokens(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace orrery::runtime
