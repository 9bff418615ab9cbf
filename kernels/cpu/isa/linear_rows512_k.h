// The formats in blocks of 256, AVX-512 VNNI: integer products for the frames of linear_rows.h. Weights of up
// to 6 bits: u x s8 pairs fit int16 (63 * 128 * 2), times an int16 scale into int32 (at most 256 * 63 * 128 *
// 128 = 2.7e8): vpmaddubsw + vpdpwssd, exact per block.
#pragma once

#include "kernels/cpu/isa/linear_rows512.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX512)

/// 32 bytes, twice.
ORRERY_INLINE __m512i both(const std::byte* p) {
  return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
ORRERY_INLINE __m512i join(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/// Every byte of the lower half shifted right by `low` bits, of the upper half by `high`; bits of the next
/// byte come in above.
ORRERY_INLINE __m512i shift_halves(__m512i bytes, int low, int high) {
  return _mm512_srlv_epi64(bytes, join(_mm256_set1_epi64x(low), _mm256_set1_epi64x(high)));
}
/// q + value where bit `low` of a byte is set, in the upper half bit `low` + 1.
ORRERY_INLINE __m512i add_where_set(__m512i q, __m512i bytes, int low, char value) {
  const __m512i bits =
      join(_mm256_set1_epi8(static_cast<char>(1 << low)), _mm256_set1_epi8(static_cast<char>(2 << low)));
  return _mm512_mask_add_epi8(q, _mm512_test_epi8_mask(bytes, bits), q, _mm512_set1_epi8(value));
}

/// dot += q x activations from column `at` on x scale.
template <int terms>
ORRERY_INLINE void add_products(__m512i q, __m512i scale, const auto& acts, int64_t at,
                                __m512i (&dot)[terms]) {
#pragma GCC unroll 16
  for (int t = 0; t < terms; ++t) {
    const __m512i x = _mm512_loadu_si512(acts.values(t) + at);
    dot[t] = _mm512_dpwssd_epi32(dot[t], _mm512_maddubs_epi16(q, x), scale);
  }
}

/// Scales 2c and 2c + 1 for 32 columns each.
ORRERY_INLINE __m512i scales_of_32(__m256i scales, int c) {
  const __m512i pick = join(_mm256_setzero_si256(), _mm256_set1_epi16(1));
  return _mm512_permutexvar_epi16(_mm512_add_epi16(pick, _mm512_set1_epi16(static_cast<short>(2 * c))),
                                  _mm512_castsi256_si512(scales));
}
/// Scales first .. first + 3 for 16 columns each.
ORRERY_INLINE __m512i scales_of_16(__m256i scales, int first) {
  const __m512i groups = _mm512_set_epi16(3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1,
                                          1, 0, 0, 0, 0, 0, 0, 0, 0);
  return _mm512_permutexvar_epi16(_mm512_add_epi16(groups, _mm512_set1_epi16(static_cast<short>(first))),
                                  _mm512_castsi256_si512(scales));
}

struct ProductsQ4_K : Mins32 {
  static constexpr int kBytes = 144, kHalvesAt = 0;
  ORRERY_INLINE static __m256i head(const std::byte* w) { return scales_mins_q4_k(w + 4); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales, const auto& acts, int64_t b,
                                __m512i (&dot)[terms]) {
#pragma GCC unroll 16
    for (int c = 0; c < 4; ++c) {
      const __m512i q = _mm512_and_si512(shift_halves(both(w + 16 + 32 * c), 0, 4), _mm512_set1_epi8(15));
      add_products<terms>(q, scales_of_32(scales, c), acts, 256 * b + 64 * c, dot);
    }
  }
};
using Q4_K = RowMins<ProductsQ4_K>;

struct ProductsQ5_K : Mins32 {
  static constexpr int kBytes = 176, kHalvesAt = 0;
  ORRERY_INLINE static __m256i head(const std::byte* w) { return scales_mins_q4_k(w + 4); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales, const auto& acts, int64_t b,
                                __m512i (&dot)[terms]) {
    const __m512i fifth = both(w + 16);
#pragma GCC unroll 16
    for (int c = 0; c < 4; ++c) {
      const __m512i low = _mm512_and_si512(shift_halves(both(w + 48 + 32 * c), 0, 4), _mm512_set1_epi8(15));
      const __m512i q = add_where_set(low, fifth, 2 * c, 16);
      add_products<terms>(q, scales_of_32(scales, c), acts, 256 * b + 64 * c, dot);
    }
  }
};
using Q5_K = RowMins<ProductsQ5_K>;

/// Columns 64 part .. 64 part + 63 of 256 from four groups of pairs in 32 bytes a half.
ORRERY_INLINE __m512i pairs_of_64(const std::byte* pairs, int part) {
  const int shift = 4 * (part % 2);
  return _mm512_and_si512(shift_halves(both(pairs + 32 * (part / 2)), shift, shift + 2), _mm512_set1_epi8(3));
}

struct ProductsQ2_K {
  static constexpr int kBytes = 84, kHalvesAt = 80;
  struct Head {
    __m256i scales, mins;
  };
  ORRERY_INLINE static Head head(const std::byte* w) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(w));
    const __m128i nibble = _mm_set1_epi8(15);
    return {_mm256_cvtepu8_epi16(_mm_and_si128(both, nibble)),
            _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(both, 4), nibble))};
  }
  ORRERY_INLINE static __m128i sums(const Head& head, const auto& acts, int term, int64_t b) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(acts.sums16(term) + 16 * b));
    const __m256i eight = _mm256_madd_epi16(head.mins, x);
    return _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, const Head& head, const auto& acts, int64_t b,
                                __m512i (&dot)[terms]) {
#pragma GCC unroll 16
    for (int part = 0; part < 4; ++part)
      add_products<terms>(pairs_of_64(w + 16, part), scales_of_16(head.scales, 4 * part), acts,
                          256 * b + 64 * part, dot);
  }
};
using Q2_K = RowMins<ProductsQ2_K>;

struct ProductsQ3_K {
  static constexpr int kBytes = 110, kScaleAt = 108, kOffsetShift = 2;
  ORRERY_INLINE static __m256i scales(const std::byte* w) { return scales_q3_k(w + 96); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales, const auto& acts, int64_t b,
                                __m512i (&dot)[terms]) {
    const __m512i third = both(w);
#pragma GCC unroll 16
    for (int part = 0; part < 4; ++part) {
      const __m512i q = add_where_set(pairs_of_64(w + 32, part), third, 2 * part, 4);
      add_products<terms>(q, scales_of_16(scales, 4 * part), acts, 256 * b + 64 * part, dot);
    }
  }
};
using Q3_K = RowOffset<ProductsQ3_K>;

struct ProductsQ6_K {
  static constexpr int kBytes = 210, kScaleAt = 208, kOffsetShift = 5;
  ORRERY_INLINE static __m256i scales(const std::byte* w) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + 192)));
  }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales, const auto& acts, int64_t b,
                                __m512i (&dot)[terms]) {
    // By how many bits each pair of high bits is moved to bits 4 and 5: the low nibbles' to the left, the
    // high ones' to the right.
    const __m512i to_left = join(_mm256_set1_epi16(4), _mm256_set1_epi16(2));
    const __m512i to_right = join(_mm256_set1_epi16(0), _mm256_set1_epi16(2));
#pragma GCC unroll 16
    for (int half = 0; half < 2; ++half) {
      const __m512i nibbles = _mm512_loadu_si512(w + 64 * half);
      const __m512i pairs = both(w + 128 + 32 * half);
      const auto with_pairs = [&](__m512i low4, __m512i moved) __attribute__((always_inline)) {
        const __m512i bits = _mm512_and_si512(moved, _mm512_set1_epi8(0x30));
        return _mm512_or_si512(_mm512_and_si512(low4, _mm512_set1_epi8(15)), bits);
      };
      const __m512i q[2] = {with_pairs(nibbles, _mm512_sllv_epi16(pairs, to_left)),
                            with_pairs(_mm512_srli_epi16(nibbles, 4), _mm512_srlv_epi16(pairs, to_right))};
#pragma GCC unroll 16
      for (int part = 0; part < 2; ++part) {
        add_products<terms>(q[part], scales_of_16(scales, 8 * half + 4 * part), acts,
                            256 * b + 128 * half + 64 * part, dot);
      }
    }
  }
};
using Q6_K = RowOffset<ProductsQ6_K>;

/// u8 levels: pairs with s8 do not fit int16, so sums of four (vpdpbusd) are multiplied by the scale as
/// int32.
struct ProductsIQ4_XS {
  static constexpr int kBytes = 136, kScaleAt = 0, kOffsetShift = 7;
  ORRERY_INLINE static __m256i scales(const std::byte* w) { return scales_iq4_xs(w); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales, const auto& acts, int64_t b,
                                __m512i (&dot)[terms]) {
    const __m512i wide = _mm512_cvtepi16_epi32(scales);
    const __m512i pick = join(_mm256_setzero_si256(), _mm256_set1_epi32(2));
#pragma GCC unroll 16
    for (int c = 0; c < 4; ++c) {
      const __m512i u = look_up(iq4_levels(128), two_nibble_blocks(w + 8 + 32 * c, w + 24 + 32 * c));
      const __m512i scale = _mm512_permutexvar_epi32(_mm512_add_epi32(pick, _mm512_set1_epi32(4 * c)), wide);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const __m512i x = _mm512_loadu_si512(acts.values(t) + 256 * b + 64 * c);
        const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), u, x);
        dot[t] = _mm512_add_epi32(dot[t], _mm512_mullo_epi32(sums, scale));
      }
    }
  }
};
using IQ4_XS = RowOffset<ProductsIQ4_XS>;

#endif

}  // namespace orrery::kernels::ORRERY_ISA
