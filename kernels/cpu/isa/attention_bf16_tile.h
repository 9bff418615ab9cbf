// Tiles of attention as pairs of bf16: rows of queries, keys and values, stored as f32 or as bf16, in the
// order that the products of attention_pairs.h read them in.
#pragma once

#include "kernels/cpu/isa/attention_pairs.h"

namespace orrery::kernels::ORRERY_ISA {

ORRERY_INLINE Vec some(const float* src, int64_t n) {
  if (n <= 0) return set1(0.0F);
  return n >= kLanes ? load(src) : load_part(src, n);
}

/// The first n elements, zero past them.
ORRERY_INLINE __m256i some(const uint16_t* src, int64_t n) {
  if (n >= kLanes) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
  uint16_t part[kLanes] = {};
  if (n > 0) __builtin_memcpy(part, src, static_cast<size_t>(n) * sizeof(uint16_t));
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(part));
}

/// Two vectors of elements as bf16, the first in the lower half.
ORRERY_INLINE Vec rounded(Vec low, Vec high) { return (Vec)_mm512_cvtne2ps_pbh(high, low); }
ORRERY_INLINE Vec rounded(__m256i low, __m256i high) {
  return (Vec)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

ORRERY_INLINE Vec whole_pairs(const float* src) { return rounded(load(src), load(src + kLanes)); }
ORRERY_INLINE Vec whole_pairs(const uint16_t* src) { return (Vec)_mm512_loadu_si512(src); }

/// 32 elements of a row from d on as 16 pairs, zero past the row's end.
template <class Element>
ORRERY_INLINE Vec pairs_of(const Element* row, int64_t d, int64_t dim) {
  if (dim - d >= 2 * kLanes) return whole_pairs(row + d);
  return rounded(some(row + d, dim - d), some(row + d + kLanes, dim - d - kLanes));
}

template <class Element>
constexpr KvFormat kFormatOf = sizeof(Element) == 4 ? KvFormat::f32 : KvFormat::bf16;

/// Zeros after the last row, as far as products want them.
ORRERY_INLINE void clear_rows(float* rows, int64_t count, int64_t width) {
  __builtin_memset(rows + count * width, 0,
                   static_cast<size_t>((filled_rows(count) - count) * width) * sizeof(float));
}

/// Columns past the last row repeat it; no query sees them.
template <class Element>
void load_key_pairs(const TileRows& rows, const TileRows& next, int64_t dim, float* key) {
  const int64_t pairs = padded_pairs(dim);
  for (int64_t first = 0; first < rows.count; first += kLanes) {
    for (int64_t i = first; i < first + kLanes && i < next.count; ++i)
      prefetch<kFormatOf<Element>>(next.key[i], dim);
    for (int64_t k = 0; k < pairs; k += kLanes) {
      Vec block[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        block[i] = pairs_of(reinterpret_cast<const Element*>(rows.key[first + i]), 2 * k, dim);
      transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(key + (k + i) * kTileKeys + first, block[i]);
    }
  }
}

/// Of `rounded(low, high)`: pairs of both, the first of low and the first of high and so on.
ORRERY_INLINE Vec interleaved(Vec both) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return (Vec)_mm512_permutexvar_epi16(order, (__m512i)both);
}

/// value[i / 2][d] has the elements d of rows i and i + 1.
template <class Element>
void load_value_pairs(const TileRows& rows, const TileRows& next, int64_t dim, int64_t padded, float* value) {
  for (int64_t i = 0; i < filled_depth(rows.count); i += 2) {
    for (int64_t n = i; n < i + 2 && n < next.count; ++n) prefetch<kFormatOf<Element>>(next.value[n], dim);
    const int64_t last = rows.count - 1;
    const auto* even = reinterpret_cast<const Element*>(rows.value[nearer(i, last)]);
    const auto* odd = reinterpret_cast<const Element*>(rows.value[nearer(i + 1, last)]);
    const int64_t even_dim = i <= last ? dim : 0, odd_dim = i < last ? dim : 0;
    for (int64_t d = 0; d < padded; d += kLanes) {
      store(value + i / 2 * padded + d,
            interleaved(rounded(some(even + d, even_dim - d), some(odd + d, odd_dim - d))));
    }
  }
}

}  // namespace orrery::kernels::ORRERY_ISA
