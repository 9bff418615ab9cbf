// Operands of any rank up to kMaxRank, walked together: sizes, and the stride of each operand in elements.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/host_device.h"

namespace orrery::kernels {

inline constexpr int kMaxRank = 6;

/// Outermost dim first. A stride of 0 takes the same element for all of a dim: broadcasting.
template <int kOperands>
struct Walk {
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t strides[kOperands][kMaxRank] = {};

  ORRERY_HOST_DEVICE int64_t elements() const {
    int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= sizes[d];
    return count;
  }
  /// Where element `index`, counted over the first `dims` dims, lies in an operand.
  ORRERY_HOST_DEVICE int64_t offset(int operand, int64_t index, int dims) const {
    int64_t offset = 0;
    for (int d = dims; d-- > 0;) {
      offset += index % sizes[d] * strides[operand][d];
      index /= sizes[d];
    }
    return offset;
  }
};

/// Strides of an operand that lies without gaps.
inline void pack_strides(int rank, const int64_t* sizes, int64_t* strides) {
  int64_t step = 1;
  for (int d = rank; d-- > 0;) {
    strides[d] = step;
    step *= sizes[d];
  }
}

/// The same elements in the same order in as few dims as possible, at least one: sizes of 1 go, and dims that
/// every operand walks as one are joined.
template <int kOperands>
Walk<kOperands> collapsed(const Walk<kOperands>& walk) {
  Walk<kOperands> joined;
  for (int d = 0; d < walk.rank; ++d) {
    if (walk.sizes[d] == 1) continue;
    const int last = joined.rank - 1;
    bool joins = last >= 0;
    for (int o = 0; joins && o < kOperands; ++o)
      joins = joined.strides[o][last] == walk.strides[o][d] * walk.sizes[d];
    const int to = joins ? last : joined.rank++;
    joined.sizes[to] = walk.sizes[d] * (joins ? joined.sizes[to] : 1);
    for (int o = 0; o < kOperands; ++o) joined.strides[o][to] = walk.strides[o][d];
  }
  if (joined.rank == 0) {
    joined.rank = 1;
    joined.sizes[0] = 1;
  }
  return joined;
}

/// What is wrong with the rank of a problem; empty: nothing.
inline std::string wrong_rank(int rank) {
  if (rank >= 0 && rank <= kMaxRank) return {};
  return std::to_string(rank) + " dims; kernels walk " + std::to_string(kMaxRank);
}

}  // namespace orrery::kernels
