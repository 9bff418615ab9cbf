// A tile of kRows rows by kVectors vectors of sums in registers. A step loads the vectors of b once, brings
// each number of a into all lanes of a register, and makes one FMA for each register of sums.
#pragma once

#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/ladder/tile.h"

namespace orrery::kernels::ORRERY_ISA {

template <int64_t kRows, int kVectors>
ORRERY_INLINE void register_tile(const void* a, const void* b, int64_t steps, float* c, int64_t c_row,
                                 bool add) {
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = set1(0.0F);
  for (int64_t step = 0; step < steps; ++step, x += kRows, y += kVectors * kLanes) {
    Vec row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = load(y + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vec each = set1(x[r]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = fma(each, row[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + r * c_row + v * kLanes;
      store(to, add ? load(to) + sums[r][v] : sums[r][v]);
    }
}

}  // namespace orrery::kernels::ORRERY_ISA
