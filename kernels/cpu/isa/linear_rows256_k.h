// The formats in blocks of 256, AVX2: integer products for the frames of linear_rows.h, as in
// linear_rows512_k.h.
#pragma once

#include "kernels/cpu/isa/linear_rows256.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX2)

struct Scales16 {
  int16_t v[16];
  explicit Scales16(__m256i scales) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(v), scales); }
  /// Scale i for 32 columns.
  ORRERY_INLINE __m256i one(int i) const { return _mm256_set1_epi16(v[i]); }
  /// Scales i and i + 1 for 16 columns each.
  ORRERY_INLINE __m256i two(int i) const {
    return _mm256_set_m128i(_mm_set1_epi16(v[i + 1]), _mm_set1_epi16(v[i]));
  }
};

/// dot += q x activations from column `at` on x scale.
template <int terms>
ORRERY_INLINE void add_products(__m256i q, __m256i scale, const auto& acts, int64_t at,
                                __m256i (&dot)[terms]) {
#pragma GCC unroll 16
  for (int t = 0; t < terms; ++t) {
    const __m256i x = load256(acts.values(t) + at);
    dot[t] = add_word_products(dot[t], _mm256_maddubs_epi16(q, x), scale);
  }
}

ORRERY_INLINE __m256i low_nibbles(__m256i bytes) { return _mm256_and_si256(bytes, _mm256_set1_epi8(15)); }

/// Sub-block s of 32 (bytes of nibbles shared by two).
ORRERY_INLINE __m256i nibbles_of_32(const std::byte* nibbles, int s) {
  const __m256i bytes = load256(nibbles + 32 * (s / 2));
  return low_nibbles(s % 2 == 0 ? bytes : _mm256_srli_epi16(bytes, 4));
}

/// Columns 32g .. 32g + 31 of 256 from four groups of pairs in 32 bytes a half.
ORRERY_INLINE __m256i pairs_of_32(const std::byte* pairs, int g) {
  const __m256i bytes = load256(pairs + 32 * (g / 4));
  return _mm256_and_si256(_mm256_srl_epi16(bytes, _mm_cvtsi32_si128(2 * (g % 4))), _mm256_set1_epi8(3));
}

struct ProductsQ4_K : Mins32 {
  static constexpr int kBytes = 144, kHalvesAt = 0;
  ORRERY_INLINE static __m256i head(const std::byte* w) { return scales_mins_q4_k(w + 4); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales_mins, const auto& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    const Scales16 scales(scales_mins);
#pragma GCC unroll 16
    for (int s = 0; s < 8; ++s)
      add_products<terms>(nibbles_of_32(w + 16, s), scales.one(s), acts, 256 * b + 32 * s, dot);
  }
};
using Q4_K = RowMins<ProductsQ4_K>;

struct ProductsQ5_K : Mins32 {
  static constexpr int kBytes = 176, kHalvesAt = 0;
  ORRERY_INLINE static __m256i head(const std::byte* w) { return scales_mins_q4_k(w + 4); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales_mins, const auto& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    const Scales16 scales(scales_mins);
    const __m256i fifth = load256(w + 16);
#pragma GCC unroll 16
    for (int s = 0; s < 8; ++s) {
      const __m256i bit = value_where_set(fifth, _mm256_set1_epi8(static_cast<char>(1 << s)), 16);
      add_products<terms>(_mm256_or_si256(nibbles_of_32(w + 48, s), bit), scales.one(s), acts,
                          256 * b + 32 * s, dot);
    }
  }
};
using Q5_K = RowMins<ProductsQ5_K>;

struct ProductsQ2_K {
  static constexpr int kBytes = 84, kHalvesAt = 80;
  struct Head {
    __m256i scales, mins;
  };
  ORRERY_INLINE static Head head(const std::byte* w) {
    const __m256i both = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
    return {low_nibbles(both), _mm256_srli_epi16(both, 4)};
  }
  ORRERY_INLINE static __m128i sums(const Head& head, const auto& acts, int term, int64_t b) {
    const __m256i eight = _mm256_madd_epi16(head.mins, load256(acts.sums16(term) + 16 * b));
    return _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, const Head& head, const auto& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    const Scales16 scales(head.scales);
#pragma GCC unroll 16
    for (int g = 0; g < 8; ++g)
      add_products<terms>(pairs_of_32(w + 16, g), scales.two(2 * g), acts, 256 * b + 32 * g, dot);
  }
};
using Q2_K = RowMins<ProductsQ2_K>;

struct ProductsQ3_K {
  static constexpr int kBytes = 110, kScaleAt = 108, kOffsetShift = 2;
  ORRERY_INLINE static __m256i scales(const std::byte* w) { return scales_q3_k(w + 96); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i all_scales, const auto& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    const Scales16 scales(all_scales);
    const __m256i third = load256(w);
#pragma GCC unroll 16
    for (int g = 0; g < 8; ++g) {
      const __m256i bit = value_where_set(third, _mm256_set1_epi8(static_cast<char>(1 << g)), 4);
      add_products<terms>(_mm256_or_si256(pairs_of_32(w + 32, g), bit), scales.two(2 * g), acts,
                          256 * b + 32 * g, dot);
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
  ORRERY_INLINE static void add(const std::byte* w, __m256i all_scales, const auto& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    const Scales16 scales(all_scales);
#pragma GCC unroll 16
    for (int g = 0; g < 8; ++g) {
      const __m256i nibbles = load256(w + 64 * (g / 4) + 32 * (g % 2));
      const __m256i low = low_nibbles(g % 4 < 2 ? nibbles : _mm256_srli_epi16(nibbles, 4));
      const __m256i q = _mm256_or_si256(low, _mm256_slli_epi16(pairs_of_32(w + 128, g), 4));
      add_products<terms>(q, scales.two(2 * g), acts, 256 * b + 32 * g, dot);
    }
  }
};
using Q6_K = RowOffset<ProductsQ6_K>;

struct ProductsIQ4_XS {
  static constexpr int kBytes = 136, kScaleAt = 0, kOffsetShift = 0;
  ORRERY_INLINE static __m256i scales(const std::byte* w) { return scales_iq4_xs(w); }
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i all_scales, const auto& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    const Scales16 scales(all_scales);
#pragma GCC unroll 16
    for (int s = 0; s < 8; ++s) {
      const __m256i values = look_up(iq4_levels(0), nibble_block(w + 8 + 16 * s));
      const __m256i scale = _mm256_set1_epi32(scales.v[2 * s]);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const __m256i sums = dot_s8(_mm256_setzero_si256(), values, acts.values(t) + 256 * b + 32 * s);
        dot[t] = _mm256_add_epi32(dot[t], _mm256_mullo_epi32(sums, scale));
      }
    }
  }
};
using IQ4_XS = RowOffset<ProductsIQ4_XS>;

#endif

}  // namespace orrery::kernels::ORRERY_ISA
