// One weight row times `tokens` tokens, AVX2: the same interface as linear_rows512.h, eight partial sums.
// u4 and u6 weights by vpmaddubsw (no saturation: 63 * 127 * 2 < 2^15), int8 weights as int16 by vpmaddwd.
#pragma once

#include "kernels/cpu/isa/linear_rows.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX2)

ORRERY_INLINE __m256i load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

/// u8 x s8 in eight int32 sums.
ORRERY_INLINE __m256i dot_u8(__m256i u, __m256i x) {
  return _mm256_madd_epi16(_mm256_maddubs_epi16(u, x), _mm256_set1_epi16(1));
}

ORRERY_INLINE __m256i nibble_block(const std::byte* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes), _mm256_set1_epi8(15));
}

struct Q4_0 {
  static constexpr int kBytes = 18;
  static constexpr float kOffset = -8.0F;
  ORRERY_INLINE static float min(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static __m256i dot(const std::byte* block, const int8_t* x) {
    return dot_u8(nibble_block(block + 2), load256(x));
  }
};
struct Q4_1 {
  static constexpr int kBytes = 20;
  static constexpr float kOffset = 1.0F;
  ORRERY_INLINE static float min(const std::byte* block) { return f16_to_float(block + 2); }
  ORRERY_INLINE static __m256i dot(const std::byte* block, const int8_t* x) {
    return dot_u8(nibble_block(block + 4), load256(x));
  }
};
struct Q8_0 {
  static constexpr int kBytes = 34;
  static constexpr float kOffset = 0.0F;
  ORRERY_INLINE static float min(const std::byte*) { return 0.0F; }
  ORRERY_INLINE static __m256i dot(const std::byte* block, const int8_t* x) {
    const auto words = [](const void* p) {
      return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    };
    return _mm256_add_epi32(_mm256_madd_epi16(words(block + 2), words(x)),
                            _mm256_madd_epi16(words(block + 18), words(x + 16)));
  }
};

template <class Format>
ORRERY_INLINE __m256i both_halves(const std::byte* block, const int8_t* high, const int8_t* low) {
  return _mm256_add_epi32(_mm256_slli_epi32(Format::dot(block, high), 8), Format::dot(block, low));
}

template <class Format>
struct Blocks32 {
  template <int tokens>
  ORRERY_INLINE static void row(const std::byte* w, const Activations& acts, int64_t cols,
                                __m256 (&out)[tokens]) {
    float side[tokens] = {};
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = _mm256_setzero_ps();
    for (int64_t b = 0; b < cols / 32; ++b, w += Format::kBytes) {
      fetch_ahead(w);
      const float d = f16_to_float(w);
      const float m = Format::min(w);
#pragma GCC unroll 16
      for (int t = 0; t < tokens; ++t) {
        const float* scales = acts.scales(t) + 2 * b;
        const __m256i dot = both_halves<Format>(w, acts.high(t) + 32 * b, acts.low(t) + 32 * b);
        side[t] += m * scales[1];
        out[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_set1_ps(d * scales[0]), out[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      out[t] = _mm256_add_ps(out[t], _mm256_zextps128_ps256(_mm_set_ss(Format::kOffset * side[t])));
    }
  }
};

struct ProductsQ4_K {
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales_mins, const Activations& acts, int64_t b,
                                __m256i (&dot)[terms]) {
    int16_t scales[16];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(scales), scales_mins);
#pragma GCC unroll 16
    for (int c = 0; c < 4; ++c) {
      const __m256i bytes = load256(w + 16 + 32 * c);
      const __m256i low = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const int8_t* x = acts.values(t) + 256 * b + 64 * c;
        dot[t] = _mm256_add_epi32(dot[t], _mm256_madd_epi16(_mm256_maddubs_epi16(low, load256(x)),
                                                            _mm256_set1_epi16(scales[2 * c])));
        dot[t] = _mm256_add_epi32(dot[t], _mm256_madd_epi16(_mm256_maddubs_epi16(high, load256(x + 32)),
                                                            _mm256_set1_epi16(scales[2 * c + 1])));
      }
    }
  }
};
using Q4_K = RowQ4_K<ProductsQ4_K>;

struct Q6_K {
  static constexpr int kBytes = 210;
  template <int tokens>
  ORRERY_INLINE static void row(const std::byte* w, const Activations& acts, int64_t cols,
                                __m256 (&out)[tokens]) {
    constexpr int terms = 2 * tokens;
    __m256 sum[terms];
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) sum[t] = _mm256_setzero_ps();
    for (int64_t b = 0; b < cols / 256; ++b, w += kBytes) {
      fetch_ahead(w);
      fetch_ahead(w + 64);
      fetch_ahead(w + 128);
      fetch_ahead(w + 192);
      const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + 192)));
      int16_t scale[16];
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(scale), scales);
      __m256i dot[terms];
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) dot[t] = _mm256_setzero_si256();
#pragma GCC unroll 16
      for (int g = 0; g < 8; ++g) {  // 32 columns each
        const int half = g / 4;
        const __m256i nibbles = load256(w + 64 * half + 32 * (g % 2));
        const __m256i pairs = load256(w + 128 + 32 * half);
        const __m256i low =
            _mm256_and_si256(g % 4 < 2 ? nibbles : _mm256_srli_epi16(nibbles, 4), _mm256_set1_epi8(15));
        const __m256i moved = _mm256_srl_epi16(pairs, _mm_cvtsi32_si128(2 * (g % 4)));
        const __m256i high = _mm256_slli_epi16(_mm256_and_si256(moved, _mm256_set1_epi8(3)), 4);
        const __m256i q = _mm256_or_si256(low, high);
        const __m256i s = _mm256_set_m128i(_mm_set1_epi16(scale[2 * g + 1]), _mm_set1_epi16(scale[2 * g]));
#pragma GCC unroll 16
        for (int t = 0; t < terms; ++t) {
          const __m256i x = load256(acts.values(t) + 256 * b + 32 * g);
          dot[t] = _mm256_add_epi32(dot[t], _mm256_madd_epi16(_mm256_maddubs_epi16(q, x), s));
        }
      }
      const float d = f16_to_float(w + 208);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const __m256i sums = load256(acts.sums16(t) + 16 * b);
        const __m256i offset = _mm256_slli_epi32(_mm256_madd_epi16(scales, sums), 5);
        const __m256i total = _mm256_sub_epi32(dot[t], offset);
        sum[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(total), _mm256_set1_ps(d * acts.scale(t, b)), sum[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = _mm256_add_ps(sum[2 * t], sum[2 * t + 1]);
  }
};

#endif

}  // namespace orrery::kernels::ORRERY_ISA
