// One weight row times `tokens` tokens, AVX-512 VNNI. Each format gives
//   row<tokens>(row, acts, cols, out): out[t] = 16 partial sums of token t
// u8 weights in original order (offsets of the format added), vpdpbusd or vpmaddubsw + vpdpwssd with the int8
// activations, float32 sums per lane. Every load stays inside the row's blocks.
#pragma once

#include "kernels/cpu/isa/linear_rows.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX512)

ORRERY_INLINE int head_word(const std::byte* p) {
  int word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

/// Two blocks' 16 nibble bytes, as 64 values in order: low nibbles then high nibbles of each.
ORRERY_INLINE __m512i two_nibble_blocks(const std::byte* first, const std::byte* second) {
  const __m512i bytes = _mm512_mask_broadcast_i32x4(
      _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first))), 0xFF00,
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(second)));
  const __m512i shifts = _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0);
  return _mm512_and_si512(_mm512_srlv_epi64(bytes, shifts), _mm512_set1_epi8(15));
}

struct Q4_0 {
  static constexpr int kBytes = 18;
  static constexpr float kOffset = -8.0F;  // of the sums: w = d (u - 8)
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return two_nibble_blocks(a + 2, b + 2);
  }
  /// (d, m) pairs of four blocks from their first four bytes; m stands for d here
  ORRERY_INLINE static __m128i pairs(__m128i heads) {
    return _mm_shuffle_epi8(heads, _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13));
  }
};
struct Q4_1 {
  static constexpr int kBytes = 20;
  static constexpr float kOffset = 1.0F;
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return two_nibble_blocks(a + 4, b + 4);
  }
  ORRERY_INLINE static __m128i pairs(__m128i heads) { return heads; }
};
struct Q8_0 {
  static constexpr int kBytes = 34;
  static constexpr float kOffset = -128.0F;  // w = d (u - 128)
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    const __m512i bytes = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + 2))),
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 2)), 1);
    return _mm512_xor_si512(bytes, _mm512_set1_epi8(-128));
  }
  ORRERY_INLINE static __m128i pairs(__m128i heads) { return Q4_0::pairs(heads); }
};

/// Formats in blocks of 32. Four blocks a step: dot products of blocks (0, 1) and (2, 3) in one vector each,
/// scales d_w * d_x by one product of (d, m) with the activations' (d, d * sum), whose odd lanes sum the
/// offsets.
template <class Format>
struct Blocks32 {
  template <int tokens>
  struct Sums {
    __m512 dot[tokens];
    __m256 side[tokens];
  };

  template <int tokens, int blocks>
  ORRERY_INLINE static void step(const std::byte* w, const Activations& acts, int64_t b, Sums<tokens>& sums) {
    constexpr int kBytes = Format::kBytes;
    __m128i heads = _mm_cvtsi32_si128(head_word(w));
    if constexpr (blocks > 1) heads = _mm_insert_epi32(heads, head_word(w + kBytes), 1);
    if constexpr (blocks > 2) heads = _mm_insert_epi32(heads, head_word(w + 2 * kBytes), 2);
    if constexpr (blocks > 3) heads = _mm_insert_epi32(heads, head_word(w + 3 * kBytes), 3);
    const __m256 pairs = _mm256_cvtph_ps(Format::pairs(heads));
    const __m512i low = Format::two(w, blocks > 1 ? w + kBytes : w);
    __m512i high{};
    if constexpr (blocks > 2)
      high = Format::two(w + 2 * kBytes, blocks > 3 ? w + 3 * kBytes : w + 2 * kBytes);
    const __m512i pick_low = _mm512_set_epi32(2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i pick_high = _mm512_set_epi32(6, 6, 6, 6, 6, 6, 6, 6, 4, 4, 4, 4, 4, 4, 4, 4);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      const __m256 product = _mm256_mul_ps(pairs, _mm256_loadu_ps(acts.scales(t) + 2 * b));
      sums.side[t] = _mm256_add_ps(sums.side[t], product);
      const __m512 scales = _mm512_castps256_ps512(product);
      const auto dot = [&](__m512i u, int64_t k) __attribute__((always_inline)) {
        const __m512i high =
            _mm512_dpbusd_epi32(_mm512_setzero_si512(), u, _mm512_loadu_si512(acts.high(t) + k));
        return _mm512_dpbusd_epi32(_mm512_slli_epi32(high, 8), u, _mm512_loadu_si512(acts.low(t) + k));
      };
      sums.dot[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot(low, 32 * b)),
                                    _mm512_permutexvar_ps(pick_low, scales), sums.dot[t]);
      if constexpr (blocks > 2) {
        sums.dot[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot(high, 32 * b + 64)),
                                      _mm512_permutexvar_ps(pick_high, scales), sums.dot[t]);
      }
    }
  }

  template <int tokens>
  ORRERY_INLINE static void row(const std::byte* w, const Activations& acts, int64_t cols,
                                __m512 (&out)[tokens]) {
    Sums<tokens> sums;
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      sums.dot[t] = _mm512_setzero_ps();
      sums.side[t] = _mm256_setzero_ps();
    }
    const int64_t blocks = cols / 32;
    int64_t b = 0;
    for (; b + 4 <= blocks; b += 4) {
      fetch_ahead(w);
      if constexpr (Format::kBytes * 4 > 64) fetch_ahead(w + 64);
      step<tokens, 4>(w, acts, b, sums);
      w += 4 * Format::kBytes;
    }
    switch (blocks - b) {
      case 1:
        step<tokens, 1>(w, acts, b, sums);
        break;
      case 2:
        step<tokens, 2>(w, acts, b, sums);
        break;
      case 3:
        step<tokens, 3>(w, acts, b, sums);
        break;
      default:
        break;
    }
    const __m256 odd =
        _mm256_setr_ps(0, Format::kOffset, 0, Format::kOffset, 0, Format::kOffset, 0, Format::kOffset);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      out[t] = _mm512_add_ps(sums.dot[t], _mm512_zextps256_ps512(_mm256_mul_ps(sums.side[t], odd)));
    }
  }
};

/// 256 columns: u4 x s8 pairs fit int16 (15 * 127 * 2), times a 6-bit scale into int32: exact per block.
struct ProductsQ4_K {
  template <int terms>
  ORRERY_INLINE static void add(const std::byte* w, __m256i scales, const Activations& acts, int64_t b,
                                __m512i (&dot)[terms]) {
    const __m512i shifts = _mm512_set_epi64(4, 4, 4, 4, 0, 0, 0, 0);
    const __m512i pick = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(1), 1);
    const __m512i wide = _mm512_castsi256_si512(scales);
#pragma GCC unroll 16
    for (int c = 0; c < 4; ++c) {
      const __m512i bytes =
          _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 16 + 32 * c)));
      const __m512i q = _mm512_and_si512(_mm512_srlv_epi64(bytes, shifts), _mm512_set1_epi8(15));
      const __m512i scale = _mm512_permutexvar_epi16(
          _mm512_add_epi16(pick, _mm512_set1_epi16(static_cast<short>(2 * c))), wide);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const __m512i x = _mm512_loadu_si512(acts.values(t) + 256 * b + 64 * c);
        dot[t] = _mm512_dpwssd_epi32(dot[t], _mm512_maddubs_epi16(q, x), scale);
      }
    }
  }
};
using Q4_K = RowQ4_K<ProductsQ4_K>;

/// 256 columns: u6 = q + 32 from a nibble and two bits; u6 x s8 pairs fit int16 (63 * 127 * 2), times an int8
/// scale into int32 (at most 256 * 63 * 127 * 128 = 2.6e8), less 32 * scale * sum: exact per block.
struct Q6_K {
  static constexpr int kBytes = 210;
  template <int tokens>
  ORRERY_INLINE static void row(const std::byte* w, const Activations& acts, int64_t cols,
                                __m512 (&out)[tokens]) {
    constexpr int terms = 2 * tokens;
    __m512 sum[terms];
#pragma GCC unroll 16
    for (int t = 0; t < terms; ++t) sum[t] = _mm512_setzero_ps();
    // For each byte of 8: the 8 bits that begin so that its pair of high bits lands in bits 4 and 5.
    const __m512i low_control =
        _mm512_inserti64x4(_mm512_set1_epi64(0x342C241C140C043C), _mm256_set1_epi64x(0x362E261E160E063E), 1);
    const __m512i high_control =
        _mm512_inserti64x4(_mm512_set1_epi64(0x3830282018100800), _mm256_set1_epi64x(0x3A322A221A120A02), 1);
    const __m512i groups = _mm512_set_epi16(3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1,
                                            1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    for (int64_t b = 0; b < cols / 256; ++b, w += kBytes) {
      fetch_ahead(w);
      fetch_ahead(w + 64);
      fetch_ahead(w + 128);
      fetch_ahead(w + 192);
      const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + 192)));
      const __m512i wide = _mm512_castsi256_si512(scales);
      __m512i dot[terms];
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) dot[t] = _mm512_setzero_si512();
#pragma GCC unroll 16
      for (int half = 0; half < 2; ++half) {
        const __m512i nibbles = _mm512_loadu_si512(w + 64 * half);
        const __m512i pairs =
            _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 128 + 32 * half)));
        const __m512i high_bits = _mm512_set1_epi8(0x30);
        const auto join = [&](__m512i low4, __m512i control) __attribute__((always_inline)) {
          const __m512i bits = _mm512_and_si512(_mm512_multishift_epi64_epi8(control, pairs), high_bits);
          return _mm512_or_si512(_mm512_and_si512(low4, _mm512_set1_epi8(15)), bits);
        };
        const __m512i q[2] = {join(nibbles, low_control), join(_mm512_srli_epi16(nibbles, 4), high_control)};
#pragma GCC unroll 16
        for (int part = 0; part < 2; ++part) {
          const __m512i scale = _mm512_permutexvar_epi16(
              _mm512_add_epi16(groups, _mm512_set1_epi16(static_cast<short>(8 * half + 4 * part))), wide);
#pragma GCC unroll 16
          for (int t = 0; t < terms; ++t) {
            const __m512i x = _mm512_loadu_si512(acts.values(t) + 256 * b + 128 * half + 64 * part);
            dot[t] = _mm512_dpwssd_epi32(dot[t], _mm512_maddubs_epi16(q[part], x), scale);
          }
        }
      }
      const float d = f16_to_float(w + 208);
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        const __m256i sums = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(acts.sums16(t) + 16 * b));
        const __m256i offset = _mm256_slli_epi32(_mm256_madd_epi16(scales, sums), 5);
        const __m512i total = _mm512_sub_epi32(dot[t], _mm512_zextsi256_si512(offset));
        sum[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(total), _mm512_set1_ps(d * acts.scale(t, b)), sum[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) out[t] = _mm512_add_ps(sum[2 * t], sum[2 * t + 1]);
  }
};

#endif

}  // namespace orrery::kernels::ORRERY_ISA
