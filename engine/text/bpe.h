// The merging of byte pair encoding: of all neighbouring pairs the one with the lowest rank is joined first,
// again and again. A heap of pairs over a linked list of symbols: n log n for a word of n bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

namespace orrery::text {

/// An open-addressed table from a pair of ids to its merge.
class MergeTable {
 public:
  struct Merge {
    int32_t rank = -1;  // lower is earlier; -1: no such merge
    TokenId result = -1;
  };
  explicit MergeTable(size_t expected);
  /// Of equal pairs the first one counts.
  void insert(TokenId left, TokenId right, Merge merge);
  Merge find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    uint64_t key = 0;
    Merge merge;
  };
  size_t slot_of(uint64_t key) const;
  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

class Bpe {
 public:
  /// byte_ids: the token of each byte, -1 where the vocabulary has none.
  Bpe(const std::array<TokenId, 256>& byte_ids, MergeTable merges)
      : byte_ids_(byte_ids), merges_(std::move(merges)) {}

  /// Buffers of one caller, kept from word to word.
  struct Scratch {
    struct Symbol {
      TokenId id;
      int32_t previous, next;
    };
    struct Pair {
      int32_t rank, position;
      TokenId left, right, result;
    };
    std::vector<Symbol> symbols;
    std::vector<Pair> heap;
  };
  /// Appends the ids of one word. A byte without a token becomes `unknown`; when that is -1 it is left out,
  /// or, where the word is not UTF-8, U+FFFD takes its place.
  void encode_word(std::string_view word, TokenId unknown, Scratch& scratch, std::vector<TokenId>& ids) const;

 private:
  void place_symbols(std::string_view word, TokenId unknown, Scratch& scratch) const;
  void offer(Scratch& scratch, int32_t position) const;

  std::array<TokenId, 256> byte_ids_;
  MergeTable merges_;
};

}  // namespace orrery::text
