// Buffers of one encoding at a time, kept from word to word and from text to text.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/text/tokenizer.h"
#include "engine/text/word_cache.h"

namespace orrery::text {

struct Scratch {
  /// A part of the word that is being spelt, in a list of its neighbours.
  struct Symbol {
    uint32_t begin, length;  // bytes of the word; length 0: joined to the one before
    TokenId id;
    int32_t previous, next;  // -1: none
  };
  /// Two neighbours that may be joined.
  struct Candidate {
    double priority;   // higher first
    int32_t position;  // of the left symbol
    uint32_t length;   // of both
    TokenId result;
  };
  /// The best way to spell a word up to one place.
  struct Path {
    double score;
    uint32_t begin;  // where its last token begins
    TokenId id;
  };
  /// What two neighbouring symbols join to. Any offer is above none.
  struct Offer {
    double priority = -std::numeric_limits<double>::infinity();
    TokenId result = -1;  // -1: no token
  };
  /// The offer of two tokens, as it was looked up before.
  struct Join {
    uint64_t pair = ~uint64_t{0};  // the ids, the left one in the upper half
    Offer offer;
  };
  static constexpr size_t kJoins = 1 << 16;  // a power of two; 2 MB from the first word on
  std::vector<Join> joins;
  std::vector<Offer> offers;  // of each symbol of a short word with the next
  std::vector<Symbol> symbols;
  std::vector<Candidate> candidates;
  std::unordered_map<TokenId, uint32_t>
      unused_split;  // bytes of the left part that an unused piece came from
  std::vector<Path> paths;
  std::vector<uint32_t> ends;  // of the tokens on the best path
  std::vector<TokenId> parts;  // of a word
  std::string candidate;       // a token that is looked up
  WordCache cache;
};

/// Scratches of one tokenizer, whose caches stay warm from text to text. Thread-safe.
class ScratchPool {
 public:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMost) idle_.push_back(std::move(scratch));
  }

 private:
  static constexpr size_t kMost = 4;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace orrery::text
