// One weight row times `tokens` tokens, AVX2: the same interface as linear_rows512.h, eight partial sums.
// Weights of up to 6 bits by vpmaddubsw (no saturation: 63 * 128 * 2 < 2^15), int8 weights as int16 by
// vpmaddwd; where there is VNNI all by vpdpbusd, int8 weights with 128 added, whose part is taken off again.
// linear_rows256_k.h has the formats in blocks of 256.
#pragma once

#include "kernels/cpu/isa/linear_rows.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX2)

ORRERY_INLINE __m256i load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

#if defined(__AVXVNNI__) || defined(__AVX512VNNI__)

// The VEX form where it is what there is, else the EVEX form, which differs in nothing but its bytes.
#if defined(__AVXVNNI__)
ORRERY_INLINE __m256i add_byte_products(__m256i sum, __m256i u, __m256i x) {
  return _mm256_dpbusd_avx_epi32(sum, u, x);
}
ORRERY_INLINE __m256i add_word_products(__m256i sum, __m256i a, __m256i b) {
  return _mm256_dpwssd_avx_epi32(sum, a, b);
}
#else
ORRERY_INLINE __m256i add_byte_products(__m256i sum, __m256i u, __m256i x) {
  return _mm256_dpbusd_epi32(sum, u, x);
}
ORRERY_INLINE __m256i add_word_products(__m256i sum, __m256i a, __m256i b) {
  return _mm256_dpwssd_epi32(sum, a, b);
}
#endif

/// Adds u8 x s8 to eight int32 sums.
ORRERY_INLINE __m256i dot_u8(__m256i sum, __m256i u, __m256i x) { return add_byte_products(sum, u, x); }

/// Adds s8 x s8 to eight int32 sums.
ORRERY_INLINE __m256i dot_s8(__m256i sum, __m256i values, const int8_t* x) {
  const __m256i offset = _mm256_set1_epi8(-128), bytes = load256(x);
  return _mm256_sub_epi32(add_byte_products(sum, _mm256_xor_si256(values, offset), bytes),
                          add_byte_products(_mm256_setzero_si256(), offset, bytes));
}

#else

ORRERY_INLINE __m256i add_word_products(__m256i sum, __m256i a, __m256i b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

/// Adds u8 x s8 to eight int32 sums.
ORRERY_INLINE __m256i dot_u8(__m256i sum, __m256i u, __m256i x) {
  return add_word_products(sum, _mm256_maddubs_epi16(u, x), _mm256_set1_epi16(1));
}

/// Adds s8 x s8 to eight int32 sums.
ORRERY_INLINE __m256i dot_s8(__m256i sum, __m256i values, const int8_t* x) {
  const auto words = [](const void* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  };
  const __m256i first = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(values));
  const __m256i second = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(values, 1));
  return add_word_products(add_word_products(sum, first, words(x)), second, words(x + 16));
}

#endif

/// `value` in the bytes where all of `bits` are set in the byte of `bytes`.
ORRERY_INLINE __m256i value_where_set(__m256i bytes, __m256i bits, char value) {
  return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), bits), _mm256_set1_epi8(value));
}

/// 16 where a bit of the word at `p` is set, one byte a bit.
ORRERY_INLINE __m256i fifth_bits(const std::byte* p) {
  int word;
  std::memcpy(&word, p, sizeof word);
  const __m256i byte_of = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(word), byte_of);
  return value_where_set(bytes, _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201)), 16);
}

ORRERY_INLINE __m256i look_up(__m128i levels, __m256i codes) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(levels), codes);
}

ORRERY_INLINE __m256i nibble_block(const std::byte* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes), _mm256_set1_epi8(15));
}

// A format in blocks of 32: d of a block, what kOffset stands before, and the sums of its numbers.
struct Q4_0 {
  static constexpr int kBytes = 18;
  static constexpr float kOffset = -8.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static float min(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_u8(sum, nibble_block(block + 2), load256(x));
  }
};
struct Q4_1 {
  static constexpr int kBytes = 20;
  static constexpr float kOffset = 1.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static float min(const std::byte* block) { return f16_to_float(block + 2); }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_u8(sum, nibble_block(block + 4), load256(x));
  }
};
struct Q5_0 {
  static constexpr int kBytes = 22;
  static constexpr float kOffset = -16.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static float min(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_u8(sum, _mm256_or_si256(nibble_block(block + 6), fifth_bits(block + 2)), load256(x));
  }
};
struct Q5_1 {
  static constexpr int kBytes = 24;
  static constexpr float kOffset = 1.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static float min(const std::byte* block) { return f16_to_float(block + 2); }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_u8(sum, _mm256_or_si256(nibble_block(block + 8), fifth_bits(block + 4)), load256(x));
  }
};
struct Q8_0 {
  static constexpr int kBytes = 34;
  static constexpr float kOffset = 0.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static float min(const std::byte*) { return 0.0F; }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_s8(sum, load256(block + 2), x);
  }
};
struct IQ4_NL {
  static constexpr int kBytes = 18;
  static constexpr float kOffset = 0.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return f16_to_float(block); }
  ORRERY_INLINE static float min(const std::byte*) { return 0.0F; }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_s8(sum, look_up(iq4_levels(0), nibble_block(block + 2)), x);
  }
};
struct MXFP4 {
  static constexpr int kBytes = 17;
  static constexpr float kOffset = -12.0F;
  ORRERY_INLINE static float scale(const std::byte* block) { return mxfp4_scale(block); }
  ORRERY_INLINE static float min(const std::byte* block) { return mxfp4_scale(block); }
  ORRERY_INLINE static __m256i dot(__m256i sum, const std::byte* block, const int8_t* x) {
    return dot_u8(sum, look_up(mxfp4_levels(12), nibble_block(block + 1)), load256(x));
  }
};

template <class Format, int halves>
ORRERY_INLINE __m256i dot_block(const std::byte* block, const Activations<halves>& acts, int t, int64_t at) {
  __m256i sum = _mm256_setzero_si256();
  if constexpr (halves == 2) sum = _mm256_slli_epi32(Format::dot(sum, block, acts.high(t) + at), 8);
  return Format::dot(sum, block, acts.low(t) + at);
}

template <class Format>
struct Blocks32 {
  template <int tokens, int halves>
  ORRERY_INLINE static void row(const std::byte* w, const Activations<halves>& acts, int64_t cols,
                                __m256 (&out)[tokens]) {
    float side[tokens] = {};
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = _mm256_setzero_ps();
    for (int64_t b = 0; b < cols / 32; ++b, w += Format::kBytes) {
      fetch_ahead(w);
      const float d = Format::scale(w);
      const float m = Format::min(w);
#pragma GCC unroll 16
      for (int t = 0; t < tokens; ++t) {
        const float* scales = acts.scales(t) + 2 * b;
        const __m256i dot = dot_block<Format>(w, acts, t, 32 * b);
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

#endif

}  // namespace orrery::kernels::ORRERY_ISA
