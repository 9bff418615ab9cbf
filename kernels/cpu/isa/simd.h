// A vector of float32 as the ISA of this source has it: Vec and its operations, one spelling for AVX2 and
// AVX-512 (+ - * / on Vec are the compiler's own). For per-ISA sources only; all is inlined and in
// ORRERY_ISA.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#define ORRERY_INLINE [[gnu::always_inline]] inline

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX512)

using Vec = __m512;
using Mask = __mmask16;
using Words = __m512i;  // of 64 bits
constexpr int kLanes = 16;

ORRERY_INLINE Words load_words(const uint64_t* src) { return _mm512_loadu_si512(src); }
ORRERY_INLINE Words add_words(Words a, Words b) { return _mm512_add_epi64(a, b); }

ORRERY_INLINE Vec set1(float x) { return _mm512_set1_ps(x); }
ORRERY_INLINE Vec load(const float* src) { return _mm512_loadu_ps(src); }
ORRERY_INLINE void store(float* dst, Vec x) { _mm512_storeu_ps(dst, x); }
ORRERY_INLINE Mask first_lanes(int64_t n) { return static_cast<Mask>((1U << n) - 1); }
/// The first n < kLanes elements, zero behind; memory behind them is not touched.
ORRERY_INLINE Vec load_part(const float* src, int64_t n) {
  return _mm512_maskz_loadu_ps(first_lanes(n), src);
}
ORRERY_INLINE void store_part(float* dst, Vec x, int64_t n) { _mm512_mask_storeu_ps(dst, first_lanes(n), x); }

ORRERY_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }    // a * b + c
ORRERY_INLINE Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a * b
ORRERY_INLINE Vec fmsub(Vec a, Vec b, Vec c) { return _mm512_fmsub_ps(a, b, c); }  // a * b - c
ORRERY_INLINE Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }                // b where either is NaN
ORRERY_INLINE Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }                // b where either is NaN
ORRERY_INLINE Vec sqrt(Vec a) { return _mm512_sqrt_ps(a); }
ORRERY_INLINE Vec abs(Vec a) { return _mm512_abs_ps(a); }
ORRERY_INLINE Vec round(Vec a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// x * 2^n for whole n of any size, rounding once: the result may be zero, denormal or infinite.
ORRERY_INLINE Vec scale_by_power(Vec x, Vec n) { return _mm512_scalef_ps(x, n); }

ORRERY_INLINE Mask less(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
ORRERY_INLINE Mask less_equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
ORRERY_INLINE Mask equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
ORRERY_INLINE uint32_t bits(Mask mask) { return mask; }
/// yes where the mask is set, else no
ORRERY_INLINE Vec select(Mask mask, Vec yes, Vec no) { return _mm512_mask_blend_ps(mask, no, yes); }
ORRERY_INLINE Vec copy_sign(Vec size, Vec sign) {
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(size), _mm512_castps_si512(sign),
                                                       _mm512_set1_epi32(INT32_MIN), 0xD8));
}

ORRERY_INLINE float sum(Vec x) { return _mm512_reduce_add_ps(x); }
ORRERY_INLINE float largest(Vec x) { return _mm512_reduce_max_ps(x); }

/// (a0 b0 - a1 b1', a1 b1 + ...): even lanes a * b - c, odd lanes a * b + c
ORRERY_INLINE Vec fma_sub_add(Vec a, Vec b, Vec c) { return _mm512_fmaddsub_ps(a, b, c); }
/// Lanes 2i and 2i + 1 exchanged.
ORRERY_INLINE Vec swap_pairs(Vec x) { return _mm512_permute_ps(x, 0xB1); }

ORRERY_INLINE Vec load_f16(const void* src) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(src)));
}
ORRERY_INLINE Vec load_bf16(const void* src) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(src))), 16));
}
ORRERY_INLINE void store_f16(void* dst, Vec x) {
  _mm256_storeu_si256(static_cast<__m256i*>(dst),
                      _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/// To nearest even by integer arithmetic: the bf16 instruction flushes denormals. NaN stays NaN.
ORRERY_INLINE void store_bf16(void* dst, Vec x) {
  const __m512i word = _mm512_castps_si512(x);
  const __m512i even = _mm512_and_si512(_mm512_srli_epi32(word, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(word, even), _mm512_set1_epi32(0x7FFF));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  rounded = _mm512_mask_or_epi32(rounded, nan, word, _mm512_set1_epi32(0x400000));
  _mm256_storeu_si256(static_cast<__m256i*>(dst), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
}

ORRERY_INLINE Vec load_i8(const void* src) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(src))));
}
/// Numbers of -128 to 127, rounded.
ORRERY_INLINE void store_i8(void* dst, Vec x) {
  _mm_storeu_si128(static_cast<__m128i*>(dst), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x)));
}

ORRERY_INLINE Vec unpack_low(Vec a, Vec b) { return _mm512_unpacklo_ps(a, b); }
ORRERY_INLINE Vec unpack_high(Vec a, Vec b) { return _mm512_unpackhi_ps(a, b); }
ORRERY_INLINE Vec shuffle_low(Vec a, Vec b) { return _mm512_shuffle_ps(a, b, 0x44); }
ORRERY_INLINE Vec shuffle_high(Vec a, Vec b) { return _mm512_shuffle_ps(a, b, 0xEE); }
/// The groups of four lanes added up.
ORRERY_INLINE __m128 sum_quads(Vec x) {
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/// Lanes low <= i < high; either may lie outside.
ORRERY_INLINE Mask lanes_between(int64_t low, int64_t high) {
  const uint32_t below = high <= 0 ? 0U : high >= kLanes ? 0xFFFFU : (1U << high) - 1;
  const uint32_t under = low <= 0 ? 0U : low >= kLanes ? 0xFFFFU : (1U << low) - 1;
  return static_cast<Mask>(below & ~under);
}

/// rows[i] lane j and rows[j] lane i exchanged.
ORRERY_INLINE void transpose(Vec (&rows)[kLanes]) {
  Vec pairs[16];
  Vec quads[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = unpack_low(rows[i], rows[i + 1]);
    pairs[i + 1] = unpack_high(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {  // quads[i + c]: columns c, c + 4, c + 8, c + 12 of rows i .. i + 3
    quads[i] = shuffle_low(pairs[i], pairs[i + 2]);
    quads[i + 1] = shuffle_high(pairs[i], pairs[i + 2]);
    quads[i + 2] = shuffle_low(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = shuffle_high(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const Vec even_top = _mm512_shuffle_f32x4(quads[c], quads[4 + c], 0x88);
    const Vec odd_top = _mm512_shuffle_f32x4(quads[c], quads[4 + c], 0xDD);
    const Vec even_bottom = _mm512_shuffle_f32x4(quads[8 + c], quads[12 + c], 0x88);
    const Vec odd_bottom = _mm512_shuffle_f32x4(quads[8 + c], quads[12 + c], 0xDD);
    rows[c] = _mm512_shuffle_f32x4(even_top, even_bottom, 0x88);
    rows[c + 4] = _mm512_shuffle_f32x4(odd_top, odd_bottom, 0x88);
    rows[c + 8] = _mm512_shuffle_f32x4(even_top, even_bottom, 0xDD);
    rows[c + 12] = _mm512_shuffle_f32x4(odd_top, odd_bottom, 0xDD);
  }
}

/// Float64, half as many lanes.
using Wide = __m512d;
ORRERY_INLINE Wide wide_set1(double x) { return _mm512_set1_pd(x); }
ORRERY_INLINE Wide wide_load(const double* src) { return _mm512_loadu_pd(src); }
ORRERY_INLINE Wide wide_round(Wide x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
ORRERY_INLINE double wide_sum(Wide x) { return _mm512_reduce_add_pd(x); }
ORRERY_INLINE Vec narrow(Wide low, Wide high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
/// Lanes added up in float64, pairwise: lane i and lane i + kLanes / 2.
ORRERY_INLINE Wide widen_halves(Vec x) {
  return _mm512_cvtps_pd(_mm512_castps512_ps256(x)) + _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}

#elif defined(ORRERY_ISA_AVX2)

using Vec = __m256;
using Mask = __m256;
using Words = __m256i;  // of 64 bits
constexpr int kLanes = 8;

ORRERY_INLINE Words load_words(const uint64_t* src) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
}
ORRERY_INLINE Words add_words(Words a, Words b) { return _mm256_add_epi64(a, b); }

ORRERY_INLINE Vec set1(float x) { return _mm256_set1_ps(x); }
ORRERY_INLINE Vec load(const float* src) { return _mm256_loadu_ps(src); }
ORRERY_INLINE void store(float* dst, Vec x) { _mm256_storeu_ps(dst, x); }
ORRERY_INLINE __m256i first_lanes(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
ORRERY_INLINE Vec load_part(const float* src, int64_t n) { return _mm256_maskload_ps(src, first_lanes(n)); }
ORRERY_INLINE void store_part(float* dst, Vec x, int64_t n) { _mm256_maskstore_ps(dst, first_lanes(n), x); }

ORRERY_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
ORRERY_INLINE Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
ORRERY_INLINE Vec fmsub(Vec a, Vec b, Vec c) { return _mm256_fmsub_ps(a, b, c); }
ORRERY_INLINE Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
ORRERY_INLINE Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
ORRERY_INLINE Vec sqrt(Vec a) { return _mm256_sqrt_ps(a); }
ORRERY_INLINE Vec abs(Vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a); }
ORRERY_INLINE Vec round(Vec a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
/// In two steps of at most 2^127 each, so that -254 <= n <= 254 covers denormal and infinite results.
ORRERY_INLINE Vec scale_by_power(Vec x, Vec n) {
  const __m256i whole = _mm256_cvtps_epi32(n);
  const __m256i half = _mm256_srai_epi32(whole, 1);
  const __m256i bias = _mm256_set1_epi32(127);
  const __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
  const __m256i second = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23);
  return x * _mm256_castsi256_ps(first) * _mm256_castsi256_ps(second);
}

ORRERY_INLINE Mask less(Vec a, Vec b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
ORRERY_INLINE Mask less_equal(Vec a, Vec b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
ORRERY_INLINE Mask equal(Vec a, Vec b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
ORRERY_INLINE uint32_t bits(Mask mask) { return static_cast<uint32_t>(_mm256_movemask_ps(mask)); }
ORRERY_INLINE Vec select(Mask mask, Vec yes, Vec no) { return _mm256_blendv_ps(no, yes, mask); }
ORRERY_INLINE Vec copy_sign(Vec size, Vec sign) {
  const Vec bit = _mm256_set1_ps(-0.0F);
  return _mm256_or_ps(_mm256_andnot_ps(bit, size), _mm256_and_ps(bit, sign));
}

ORRERY_INLINE float sum(Vec x) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
ORRERY_INLINE float largest(Vec x) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

ORRERY_INLINE Vec fma_sub_add(Vec a, Vec b, Vec c) { return _mm256_fmaddsub_ps(a, b, c); }
ORRERY_INLINE Vec swap_pairs(Vec x) { return _mm256_permute_ps(x, 0xB1); }

ORRERY_INLINE Vec load_f16(const void* src) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(src)));
}
ORRERY_INLINE Vec load_bf16(const void* src) {
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(src))), 16));
}
ORRERY_INLINE void store_f16(void* dst, Vec x) {
  _mm_storeu_si128(static_cast<__m128i*>(dst),
                   _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
ORRERY_INLINE void store_bf16(void* dst, Vec x) {
  const __m256i word = _mm256_castps_si256(x);
  const __m256i even = _mm256_and_si256(_mm256_srli_epi32(word, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(word, even), _mm256_set1_epi32(0x7FFF));
  const __m256i quiet = _mm256_or_si256(word, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  _mm_storeu_si128(static_cast<__m128i*>(dst),
                   _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
}

ORRERY_INLINE Vec load_i8(const void* src) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(src))));
}
ORRERY_INLINE void store_i8(void* dst, Vec x) {
  const __m256i words = _mm256_cvtps_epi32(x);
  const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storel_epi64(static_cast<__m128i*>(dst), _mm_packs_epi16(half, half));
}

ORRERY_INLINE Vec unpack_low(Vec a, Vec b) { return _mm256_unpacklo_ps(a, b); }
ORRERY_INLINE Vec unpack_high(Vec a, Vec b) { return _mm256_unpackhi_ps(a, b); }
ORRERY_INLINE Vec shuffle_low(Vec a, Vec b) { return _mm256_shuffle_ps(a, b, 0x44); }
ORRERY_INLINE Vec shuffle_high(Vec a, Vec b) { return _mm256_shuffle_ps(a, b, 0xEE); }
ORRERY_INLINE __m128 sum_quads(Vec x) {
  return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}

ORRERY_INLINE Mask lanes_between(int64_t low, int64_t high) {
  const auto edge = [](int64_t x) {
    return _mm256_set1_epi32(x <= 0 ? 0 : x >= kLanes ? kLanes : static_cast<int>(x));
  };
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_castsi256_ps(
      _mm256_andnot_si256(_mm256_cmpgt_epi32(edge(low), lane), _mm256_cmpgt_epi32(edge(high), lane)));
}

ORRERY_INLINE void transpose(Vec (&rows)[kLanes]) {
  Vec pairs[8];
  Vec quads[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = unpack_low(rows[i], rows[i + 1]);
    pairs[i + 1] = unpack_high(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 4) {  // quads[i + c]: columns c and c + 4 of rows i .. i + 3
    quads[i] = shuffle_low(pairs[i], pairs[i + 2]);
    quads[i + 1] = shuffle_high(pairs[i], pairs[i + 2]);
    quads[i + 2] = shuffle_low(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = shuffle_high(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm256_permute2f128_ps(quads[c], quads[4 + c], 0x20);
    rows[c + 4] = _mm256_permute2f128_ps(quads[c], quads[4 + c], 0x31);
  }
}

using Wide = __m256d;
ORRERY_INLINE Wide wide_set1(double x) { return _mm256_set1_pd(x); }
ORRERY_INLINE Wide wide_load(const double* src) { return _mm256_loadu_pd(src); }
ORRERY_INLINE Wide wide_round(Wide x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
ORRERY_INLINE double wide_sum(Wide x) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
ORRERY_INLINE Vec narrow(Wide low, Wide high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
ORRERY_INLINE Wide widen_halves(Vec x) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(x)) + _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}

#else
#error "simd.h is for the sources that are built per ISA"
#endif

constexpr int kWideLanes = kLanes / 2;

/// (sum a, sum b, sum c, sum d)
ORRERY_INLINE __m128 sums_of(Vec a, Vec b, Vec c, Vec d) {
  const Vec ab = unpack_low(a, b) + unpack_high(a, b);
  const Vec cd = unpack_low(c, d) + unpack_high(c, d);
  const Vec quads = shuffle_low(ab, cd) + shuffle_high(ab, cd);
  return sum_quads(quads);
}

/// The first n < kLanes 16-bit elements as float32, zero behind.
ORRERY_INLINE Vec load_part_f16(const void* src, int64_t n) {
  uint16_t part[kLanes] = {};
  std::memcpy(part, src, static_cast<size_t>(n) * sizeof(uint16_t));
  return load_f16(part);
}
ORRERY_INLINE Vec load_part_bf16(const void* src, int64_t n) {
  uint16_t part[kLanes] = {};
  std::memcpy(part, src, static_cast<size_t>(n) * sizeof(uint16_t));
  return load_bf16(part);
}

ORRERY_INLINE void store_as(float* dst, Vec x) { store(dst, x); }
ORRERY_INLINE void store_as(uint16_t* dst, Vec x) { store_bf16(dst, x); }
ORRERY_INLINE void store_part_as(float* dst, Vec x, int64_t n) { store_part(dst, x, n); }
ORRERY_INLINE void store_part_as(uint16_t* dst, Vec x, int64_t n) {
  uint16_t part[kLanes];
  store_bf16(part, x);
  std::memcpy(dst, part, static_cast<size_t>(n) * sizeof(uint16_t));
}

/// body(load_at, store_at) over n elements: whole vectors, then one masked part. What is stored to uint16_t
/// is rounded to bf16.
template <class Body>
ORRERY_INLINE void each_vector(int64_t n, Body&& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    body([i](const float* src) { return load(src + i); }, [i](auto* dst, Vec x) { store_as(dst + i, x); });
  }
  const int64_t rest = n - i;
  if (rest > 0) {
    body([i, rest](const float* src) { return load_part(src + i, rest); },
         [i, rest](auto* dst, Vec x) { store_part_as(dst + i, x, rest); });
  }
}

}  // namespace orrery::kernels::ORRERY_ISA
