// The mask of one row of a dropout (kernels/dropout.h): Philox4x32-10 (philox.h), a group of four columns a
// lane.
#pragma once

#include "kernels/cpu/isa/dropout_row.h"
#include "kernels/cpu/isa/simd.h"
#include "kernels/philox.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX512)
using Ints = __m512i;
ORRERY_INLINE Ints ints(uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
ORRERY_INLINE Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
ORRERY_INLINE Ints exclusive_or(Ints a, Ints b, Ints c) { return _mm512_ternarylogic_epi32(a, b, c, 0x96); }
ORRERY_INLINE Ints even_products(Ints a, Ints b) { return _mm512_mul_epu32(a, b); }
ORRERY_INLINE Ints to_even(Ints a) { return _mm512_srli_epi64(a, 32); }
ORRERY_INLINE Ints to_odd(Ints a) { return _mm512_slli_epi64(a, 32); }
ORRERY_INLINE Ints even_and_odd(Ints even, Ints odd) { return _mm512_mask_blend_epi32(0xAAAA, even, odd); }
ORRERY_INLINE Vec as_floats(Ints a) { return _mm512_castsi512_ps(a); }
ORRERY_INLINE Ints load_ints(const uint32_t* src) { return _mm512_loadu_si512(src); }
/// Lane 4 i + j: group 4 j + i.
ORRERY_INLINE Ints groups_of_lanes() {
  return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}
/// `kept` where the word without its low 8 bits is at most `most`, else 0.
ORRERY_INLINE Vec factors_of(Vec words, Ints most, Vec kept) {
  const Ints numbers = _mm512_srli_epi32(_mm512_castps_si512(words), 8);
  return _mm512_maskz_mov_ps(_mm512_cmple_epu32_mask(numbers, most), kept);
}
#else
using Ints = __m256i;
ORRERY_INLINE Ints ints(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
ORRERY_INLINE Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
ORRERY_INLINE Ints exclusive_or(Ints a, Ints b, Ints c) {
  return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}
ORRERY_INLINE Ints even_products(Ints a, Ints b) { return _mm256_mul_epu32(a, b); }
ORRERY_INLINE Ints to_even(Ints a) { return _mm256_srli_epi64(a, 32); }
ORRERY_INLINE Ints to_odd(Ints a) { return _mm256_slli_epi64(a, 32); }
ORRERY_INLINE Ints even_and_odd(Ints even, Ints odd) { return _mm256_blend_epi32(even, odd, 0xAA); }
ORRERY_INLINE Vec as_floats(Ints a) { return _mm256_castsi256_ps(a); }
ORRERY_INLINE Ints load_ints(const uint32_t* src) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
}
/// Lane 4 i + j: group 2 j + i.
ORRERY_INLINE Ints groups_of_lanes() { return _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7); }
ORRERY_INLINE Vec factors_of(Vec words, Ints most, Vec kept) {
  const Ints numbers = _mm256_srli_epi32(_mm256_castps_si256(words), 8);
  return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(numbers, most)), kept);
}
#endif

struct WordProducts {
  Ints low, high;
};
ORRERY_INLINE WordProducts word_products(Ints a, Ints b) {
  const Ints even = even_products(a, b), odd = even_products(to_even(a), b);
  return {even_and_odd(even, to_odd(odd)), even_and_odd(to_even(even), odd)};
}

/// A counter of Philox in each lane, which becomes four random words.
struct Counters {
  Ints c0, c1, c2, c3;

  ORRERY_INLINE void draw(uint64_t seed) {
    auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const WordProducts first = word_products(c0, ints(0xD2511F53)),
                         second = word_products(c2, ints(0xCD9E8D57));
      c0 = exclusive_or(second.high, c1, ints(key0));
      c1 = second.low;
      c2 = exclusive_or(first.high, c3, ints(key1));
      c3 = first.low;
      key0 += kPhiloxWeyl0;
      key1 += kPhiloxWeyl1;
    }
  }
};

/// Factors of 4 kLanes columns from those of a group on.
inline void mask_block(const DropoutRow& row, int64_t group, float* factors) {
  Counters words{add(ints(static_cast<uint32_t>(group)), groups_of_lanes()),
                 ints(static_cast<uint32_t>(row.row)),
                 ints(static_cast<uint32_t>(static_cast<uint64_t>(row.row) >> 32)), ints(row.stream)};
  words.draw(row.seed);
  // Words of four lanes become those of four groups, each with its own beside each other.
  const Vec low01 = unpack_low(as_floats(words.c0), as_floats(words.c1)),
            high01 = unpack_high(as_floats(words.c0), as_floats(words.c1));
  const Vec low23 = unpack_low(as_floats(words.c2), as_floats(words.c3)),
            high23 = unpack_high(as_floats(words.c2), as_floats(words.c3));
  const Ints most = ints(row.most);
  const Vec kept = set1(row.kept);
  store(factors, factors_of(shuffle_low(low01, low23), most, kept));
  store(factors + kLanes, factors_of(shuffle_high(low01, low23), most, kept));
  store(factors + 2 * kLanes, factors_of(shuffle_low(high01, high23), most, kept));
  store(factors + 3 * kLanes, factors_of(shuffle_high(high01, high23), most, kept));
}

inline void mask_row(const DropoutRow& row, int64_t cols) {
  static_assert(kMaskColumns % (4 * kLanes) == 0);
  for (int64_t c = 0; row.drops && c < cols; c += 4 * kLanes) mask_block(row, c / 4, row.factors + c);
}

}  // namespace orrery::kernels::ORRERY_ISA
