// What the rows of both ISAs share: the records of the activations, the blocks' scales, and the frames of the
// formats in blocks of 256, for which linear_rows256_k.h and linear_rows512_k.h give the integer products.
#pragma once

#include "kernels/cpu/isa/linear_parts.h"
#include "kernels/quant_values.h"

namespace orrery::kernels::ORRERY_ISA {

/// Pointers into the records of consecutive tokens, of two halves or of one.
template <int halves>
struct Activations {
  const std::byte* record;
  size_t bytes;
  ActivationLayout layout;

  const int8_t* high(int t) const { return at<int8_t>(t, 0); }
  const int8_t* low(int t) const { return at<int8_t>(t, layout.low); }
  const float* scales(int t) const { return at<float>(t, layout.scales); }
  const int32_t* negated(int t) const { return at<int32_t>(t, layout.negated); }

  // The halves of token t as terms 2t and 2t + 1, or its only one as term t: x = their sum, each values *
  // scale.
  const int8_t* values(int term) const { return is_high(term) ? high(token(term)) : low(token(term)); }
  float scale(int term, int64_t b) const { return scales(token(term))[b] * (is_high(term) ? 256.0F : 1.0F); }
  const int16_t* sums16(int term) const {
    return at<int16_t>(token(term), is_high(term) ? layout.sums16 : layout.sums16_low);
  }
  const int16_t* sums32(int term) const {
    return at<int16_t>(token(term), is_high(term) ? layout.sums32 : layout.sums32_low);
  }

 private:
  static constexpr int token(int term) { return term / halves; }
  static constexpr bool is_high(int term) { return halves == 2 && term % 2 == 0; }
  template <class T>
  const T* at(int t, size_t offset) const {
    return reinterpret_cast<const T*>(record + static_cast<size_t>(t) * bytes + offset);
  }
};

constexpr int kAhead = 4096;  // prefetch distance in bytes

ORRERY_INLINE void fetch_ahead(const std::byte* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p + kAhead), _MM_HINT_T0);
}

ORRERY_INLINE float f16_to_float(const std::byte* p) {
  uint16_t half;
  std::memcpy(&half, p, sizeof half);
  return _cvtsh_ss(half);
}

ORRERY_INLINE float mxfp4_scale(const std::byte* p) {
  return _mm_cvtss_f32(
      _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(mxfp4_scale_bits(static_cast<uint32_t>(*p))))));
}

/// The levels of IQ4_NL and IQ4_XS, or of MXFP4, plus `offset`, by code.
ORRERY_INLINE __m128i iq4_levels(int offset) {
  const __m128i levels =
      _mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
  return _mm_add_epi8(levels, _mm_set1_epi8(static_cast<char>(offset)));
}
ORRERY_INLINE __m128i mxfp4_levels(int offset) {
  const __m128i levels = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
  return _mm_add_epi8(levels, _mm_set1_epi8(static_cast<char>(offset)));
}

/// The eight 6-bit scales and eight mins of a Q4_K or Q5_K block, as int16: scales in lanes 0-7, mins in
/// 8-15.
ORRERY_INLINE __m256i scales_mins_q4_k(const std::byte* packed) {
  uint32_t w[3];
  std::memcpy(w, packed, sizeof w);
  const uint32_t scale_low = w[0] & 0x3f3f3f3fU;
  const uint32_t min_low = w[1] & 0x3f3f3f3fU;
  const uint32_t scale_high = (w[2] & 0x0f0f0f0fU) | ((w[0] >> 2) & 0x30303030U);
  const uint32_t min_high = ((w[2] >> 4) & 0x0f0f0f0fU) | ((w[1] >> 2) & 0x30303030U);
  return _mm256_cvtepu8_epi16(_mm_set_epi32(static_cast<int>(min_high), static_cast<int>(min_low),
                                            static_cast<int>(scale_high), static_cast<int>(scale_low)));
}

/// The sixteen 6-bit scales of a Q3_K block, less 32, as int16.
ORRERY_INLINE __m256i scales_q3_k(const std::byte* packed) {
  uint32_t w[3];
  std::memcpy(w, packed, sizeof w);
  const auto four = [&](uint32_t low, int shift) {
    return static_cast<int>((low & 0x0f0f0f0fU) | ((w[2] >> shift) & 0x03030303U) << 4);
  };
  const __m128i bytes = _mm_set_epi32(four(w[1] >> 4, 6), four(w[0] >> 4, 4), four(w[1], 2), four(w[0], 0));
  return _mm256_cvtepi8_epi16(_mm_sub_epi8(bytes, _mm_set1_epi8(32)));
}

/// The eight 6-bit scales of an IQ4_XS block, less 32, as int16, each twice (of 16 columns).
ORRERY_INLINE __m256i scales_iq4_xs(const std::byte* block) {
  uint16_t pairs;
  uint32_t nibbles;
  std::memcpy(&pairs, block + 2, sizeof pairs);
  std::memcpy(&nibbles, block + 4, sizeof nibbles);
  const __m128i low =
      _mm_cvtepu8_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(static_cast<int>(nibbles & 0x0f0f0f0fU)),
                                          _mm_cvtsi32_si128(static_cast<int>((nibbles >> 4) & 0x0f0f0f0fU))));
  // Pair b moved to the top of its lane.
  const __m128i moved =
      _mm_mullo_epi16(_mm_set1_epi16(static_cast<short>(pairs)),
                      _mm_setr_epi16(1 << 14, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 2, 1));
  const __m128i high = _mm_slli_epi16(_mm_srli_epi16(moved, 14), 4);
  const __m128i scales = _mm_sub_epi16(_mm_or_si128(low, high), _mm_set1_epi16(32));
  return _mm256_set_m128i(_mm_unpackhi_epi16(scales, scales), _mm_unpacklo_epi16(scales, scales));
}

#if defined(ORRERY_ISA_AVX512)
using IntVec = __m512i;
ORRERY_INLINE IntVec int_zero() { return _mm512_setzero_si512(); }
ORRERY_INLINE Vec to_float(IntVec x) { return _mm512_cvtepi32_ps(x); }
/// Zero behind the four.
ORRERY_INLINE Vec first_quad(__m128 x) { return _mm512_zextps128_ps512(x); }
ORRERY_INLINE IntVec minus_first(IntVec x, __m256i y) {
  return _mm512_sub_epi32(x, _mm512_zextsi256_si512(y));
}
#else
using IntVec = __m256i;
ORRERY_INLINE IntVec int_zero() { return _mm256_setzero_si256(); }
ORRERY_INLINE Vec to_float(IntVec x) { return _mm256_cvtepi32_ps(x); }
ORRERY_INLINE Vec first_quad(__m128 x) { return _mm256_zextps128_ps256(x); }
ORRERY_INLINE IntVec minus_first(IntVec x, __m256i y) { return _mm256_sub_epi32(x, y); }
#endif

/// What the terms of token t give together.
template <int halves>
ORRERY_INLINE Vec both(const Vec* sum, int t) {
  if constexpr (halves == 2) return sum[2 * t] + sum[2 * t + 1];
  return sum[t];
}

template <int bytes>
ORRERY_INLINE void fetch_block_ahead(const std::byte* w) {
#pragma GCC unroll 16
  for (int at = 0; at < bytes; at += 64) fetch_ahead(w + at);
}

/// Mins of 32 columns (Q4_K, Q5_K): the upper half of scales_mins_q4_k times the sums of the activations.
struct Mins32 {
  ORRERY_INLINE static __m128i sums(__m256i scales_mins, const auto& acts, int term, int64_t b) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(acts.sums32(term) + 8 * b));
    return _mm_madd_epi16(_mm256_extracti128_si256(scales_mins, 1), x);
  }
};

/// Blocks of 256 with scales and mins: w = d s q - m n. Products gives
///   head(w)            the scales, from which it makes what it needs
///   add<terms>(...)    adds block b's sums of unsigned q x int8 times scales, exact in int32
///   sums(head, ...)    four parts of the mins times the sums of the activations, exact
/// d and m lie at kHalvesAt; blocks are added in float32.
template <class Products>
struct RowMins {
  template <int tokens, int halves>
  ORRERY_INLINE static void row(const std::byte* w, const Activations<halves>& acts, int64_t cols,
                                Vec (&out)[tokens]) {
    constexpr int terms = halves * tokens;
    Vec sum[terms];
    __m128 side[terms];
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) {
      sum[t] = set1(0.0F);
      side[t] = _mm_setzero_ps();
    }
    for (int64_t b = 0; b < cols / 256; ++b, w += Products::kBytes) {
      fetch_block_ahead<Products::kBytes>(w);
      const auto head = Products::head(w);
      IntVec dot[terms];
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) dot[t] = int_zero();
      Products::template add<terms>(w, head, acts, b, dot);
      const float d = f16_to_float(w + Products::kHalvesAt);
      const float m = f16_to_float(w + Products::kHalvesAt + 2);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const float dx = acts.scale(t, b);
        side[t] =
            _mm_fnmadd_ps(_mm_cvtepi32_ps(Products::sums(head, acts, t, b)), _mm_set1_ps(m * dx), side[t]);
        sum[t] = fma(to_float(dot[t]), set1(d * dx), sum[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) sum[t] = sum[t] + first_quad(side[t]);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = both<halves>(sum, t);
  }
};

/// Blocks of 256 with signed scales of 16 columns: w = d s (u - 2^kOffsetShift); shift 0: no offset. Products
/// gives scales(w) as int16 and adds the sums of u x int8 times scales as above; the offset is taken off them
/// in integers. d lies at kScaleAt.
template <class Products>
struct RowOffset {
  template <int tokens, int halves>
  ORRERY_INLINE static void row(const std::byte* w, const Activations<halves>& acts, int64_t cols,
                                Vec (&out)[tokens]) {
    constexpr int terms = halves * tokens;
    Vec sum[terms];
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) sum[t] = set1(0.0F);
    for (int64_t b = 0; b < cols / 256; ++b, w += Products::kBytes) {
      fetch_block_ahead<Products::kBytes>(w);
      const __m256i scales = Products::scales(w);
      IntVec dot[terms];
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) dot[t] = int_zero();
      Products::template add<terms>(w, scales, acts, b, dot);
      const float d = f16_to_float(w + Products::kScaleAt);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        if constexpr (Products::kOffsetShift > 0) {
          const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(acts.sums16(t) + 16 * b));
          dot[t] =
              minus_first(dot[t], _mm256_slli_epi32(_mm256_madd_epi16(scales, x), Products::kOffsetShift));
        }
        sum[t] = fma(to_float(dot[t]), set1(d * acts.scale(t, b)), sum[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = both<halves>(sum, t);
  }
};

}  // namespace orrery::kernels::ORRERY_ISA
