// Products of weights that may be zero with rows that may be infinite or NaN: what a query does not see, or
// does not keep, must not reach it. Only where a row is not finite is the product taken weight by weight.
#pragma once

#include "kernels/cpu/isa/attention_product.h"

namespace orrery::kernels::ORRERY_ISA {

/// count: a multiple of kLanes
ORRERY_INLINE bool all_finite(const float* values, int64_t count) {
  Vec off = set1(0.0F);
  for (int64_t i = 0; i < count; i += kLanes) {
    const Vec x = load(values + i);
    off = off + (x - x);  // 0, or NaN
  }
  return sum(off) == 0;
}

/// C += A B, of which a weight of 0 takes nothing; columns is a multiple of kLanes.
inline void add_weighed(const Product<Floats>& p, int64_t rows, int64_t columns, bool finite) {
  if (finite) return multiply(p, rows, columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < p.depth; ++k) {
      const float weight = p.a[r * p.lda + k * p.a_step];
      if (weight == 0) continue;
      float* c = p.c + r * p.ldc;
      for (int64_t d = 0; d < columns; d += kLanes)
        store(c + d, fma(set1(weight), load(p.b + k * p.ldb + d), load(c + d)));
    }
}

}  // namespace orrery::kernels::ORRERY_ISA
