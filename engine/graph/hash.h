// A running 64-bit hash of words.
#pragma once

#include <cstdint>

namespace orrery::graph {

/// The finaliser of splitmix64 over a running sum.
constexpr uint64_t mix(uint64_t state, uint64_t word) {
  state += 0x9e3779b97f4a7c15ULL + word;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
  return state ^ (state >> 31);
}

}  // namespace orrery::graph
