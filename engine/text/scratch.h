// Buffers of one encoding at a time, kept from word to word and from text to text.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/text/tokenizer.h"

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
  std::vector<Symbol> symbols;
  std::vector<Candidate> candidates;
  std::unordered_map<TokenId, uint32_t>
      unused_split;  // bytes of the left part that an unused piece came from
};

}  // namespace orrery::text
