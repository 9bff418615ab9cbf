// What the rows of both ISAs share: the records of the activations, a block's head, and the frame of Q4_K,
// for which linear_rows256.h and linear_rows512.h give the integer products.
#pragma once

#include "kernels/cpu/isa/linear_parts.h"

namespace orrery::kernels::ORRERY_ISA {

/// Pointers into the records of consecutive tokens.
struct Activations {
  const std::byte* record;
  size_t bytes;
  ActivationLayout layout;

  const int8_t* high(int t) const { return at<int8_t>(t, 0); }
  const int8_t* low(int t) const { return at<int8_t>(t, layout.low); }
  const float* scales(int t) const { return at<float>(t, layout.scales); }
  const int32_t* negated(int t) const { return at<int32_t>(t, layout.negated); }

  // The halves of token t as terms 2t and 2t + 1: x = sum of both, each values * scale.
  const int8_t* values(int term) const { return term % 2 == 0 ? high(term / 2) : low(term / 2); }
  float scale(int term, int64_t b) const { return scales(term / 2)[b] * (term % 2 == 0 ? 256.0F : 1.0F); }
  const int16_t* sums16(int term) const {
    return at<int16_t>(term / 2, term % 2 == 0 ? layout.sums16 : layout.sums16_low);
  }
  const int16_t* sums32(int term) const {
    return at<int16_t>(term / 2, term % 2 == 0 ? layout.sums32 : layout.sums32_low);
  }

 private:
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

/// The eight 6-bit scales and eight mins of a Q4_K block, as int16: scales in lanes 0-7, mins in 8-15.
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

#if defined(ORRERY_ISA_AVX512)
using IntVec = __m512i;
ORRERY_INLINE IntVec int_zero() { return _mm512_setzero_si512(); }
ORRERY_INLINE Vec to_float(IntVec x) { return _mm512_cvtepi32_ps(x); }
/// Zero behind the four.
ORRERY_INLINE Vec first_quad(__m128 x) { return _mm512_zextps128_ps512(x); }
#else
using IntVec = __m256i;
ORRERY_INLINE IntVec int_zero() { return _mm256_setzero_si256(); }
ORRERY_INLINE Vec to_float(IntVec x) { return _mm256_cvtepi32_ps(x); }
ORRERY_INLINE Vec first_quad(__m128 x) { return _mm256_zextps128_ps256(x); }
#endif

/// Products::add<terms>(w, scales, acts, b, dot) adds block b's sums of u4 x int8 times 6-bit scales (the low
/// half of `scales`, int16), exact in int32; here the mins are taken off and blocks are added in float32.
template <class Products>
struct RowQ4_K {
  static constexpr int kBytes = 144;
  template <int tokens>
  ORRERY_INLINE static void row(const std::byte* w, const Activations& acts, int64_t cols,
                                Vec (&out)[tokens]) {
    constexpr int terms = 2 * tokens;
    Vec sum[terms];
    __m128 side[terms];
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) {
      sum[t] = set1(0.0F);
      side[t] = _mm_setzero_ps();
    }
    for (int64_t b = 0; b < cols / 256; ++b, w += kBytes) {
      fetch_ahead(w);
      fetch_ahead(w + 64);
      fetch_ahead(w + 128);
      const __m256i scales_mins = scales_mins_q4_k(w + 4);
      const __m128i mins = _mm256_extracti128_si256(scales_mins, 1);
      IntVec dot[terms];
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) dot[t] = int_zero();
      Products::template add<terms>(w, scales_mins, acts, b, dot);
      const float d = f16_to_float(w);
      const float m = f16_to_float(w + 2);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const float dx = acts.scale(t, b);
        const __m128i sums = _mm_loadu_si128(reinterpret_cast<const __m128i*>(acts.sums32(t) + 8 * b));
        side[t] = _mm_fnmadd_ps(_mm_cvtepi32_ps(_mm_madd_epi16(mins, sums)), _mm_set1_ps(m * dx), side[t]);
        sum[t] = fma(to_float(dot[t]), set1(d * dx), sum[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) sum[t] = sum[t] + first_quad(side[t]);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = sum[2 * t] + sum[2 * t + 1];
  }
};

}  // namespace orrery::kernels::ORRERY_ISA
