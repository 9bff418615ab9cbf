// flash_product.h for pairs of bf16: products of weights that may be zero with rows that may be infinite or
// NaN.
#pragma once

#include "kernels/cpu/isa/attention_pairs.h"

namespace orrery::kernels::ORRERY_ISA {

/// Whether no pair has an exponent of all ones.
inline bool all_finite_pairs(const float* pairs, int64_t count) {
  const __m512i exponent = _mm512_set1_epi16(0x7F80);
  __mmask32 off = 0;
  for (int64_t i = 0; i < count; i += kLanes)
    off |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(_mm512_loadu_si512(pairs + i), exponent), exponent);
  return off == 0;
}

/// C += A B, of which a weight of 0 takes nothing; columns is a multiple of kLanes.
inline void add_weighed(const PairProduct& p, int64_t rows, int64_t columns, bool finite) {
  if (finite) return multiply_pairs(p, rows, columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < p.depth; ++k)
      for (int half = 0; half < 2; ++half) {
        const uint32_t word = half == 0 ? p.a[r * p.lda + k] << 16 : p.a[r * p.lda + k] & 0xFFFF0000U;
        float weight;
        __builtin_memcpy(&weight, &word, sizeof weight);
        if (weight == 0) continue;
        for (int64_t d = 0; d < columns; d += kLanes) {
          const __m512i pairs = _mm512_loadu_si512(p.b + k * p.ldb + d);
          const __m512i values = half == 0 ? _mm512_slli_epi32(pairs, 16)
                                           : _mm512_and_si512(pairs, _mm512_set1_epi32(INT32_MIN >> 15));
          float* c = p.c + r * p.ldc + d;
          store(c, fma(set1(weight), _mm512_castsi512_ps(values), load(c)));
        }
      }
}

}  // namespace orrery::kernels::ORRERY_ISA
