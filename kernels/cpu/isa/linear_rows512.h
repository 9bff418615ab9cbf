// One weight row times `tokens` tokens, AVX-512 VNNI. Each format gives
//   row<tokens>(row, acts, cols, out): out[t] = 16 partial sums of token t
// u8 weights in original order (offsets of the format added), vpdpbusd with the int8 activations, float32
// sums per lane. Every load stays inside the row's blocks. linear_rows512_k.h has the formats in blocks of
// 256.
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
  ORRERY_INLINE static __m256 pairs(__m128i heads) {
    return _mm256_cvtph_ps(
        _mm_shuffle_epi8(heads, _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13)));
  }
};
struct Q4_1 {
  static constexpr int kBytes = 20;
  static constexpr float kOffset = 1.0F;
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return two_nibble_blocks(a + 4, b + 4);
  }
  ORRERY_INLINE static __m256 pairs(__m128i heads) { return _mm256_cvtph_ps(heads); }
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
  ORRERY_INLINE static __m256 pairs(__m128i heads) { return Q4_0::pairs(heads); }
};

/// Two blocks' 5-bit values: nibbles, and 32 fifth bits of each block.
ORRERY_INLINE __m512i two_fifth_bits(__m512i nibbles, const std::byte* first, const std::byte* second) {
  const auto mask = static_cast<uint32_t>(head_word(first)) |
                    static_cast<uint64_t>(static_cast<uint32_t>(head_word(second))) << 32;
  return _mm512_mask_add_epi8(nibbles, mask, nibbles, _mm512_set1_epi8(16));
}
struct Q5_0 {
  static constexpr int kBytes = 22;
  static constexpr float kOffset = -16.0F;
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return two_fifth_bits(two_nibble_blocks(a + 6, b + 6), a + 2, b + 2);
  }
  ORRERY_INLINE static __m256 pairs(__m128i heads) { return Q4_0::pairs(heads); }
};
struct Q5_1 {
  static constexpr int kBytes = 24;
  static constexpr float kOffset = 1.0F;
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return two_fifth_bits(two_nibble_blocks(a + 8, b + 8), a + 4, b + 4);
  }
  ORRERY_INLINE static __m256 pairs(__m128i heads) { return Q4_1::pairs(heads); }
};

ORRERY_INLINE __m512i look_up(__m128i levels, __m512i codes) {
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(levels), codes);
}
struct IQ4_NL {
  static constexpr int kBytes = 18;
  static constexpr float kOffset = -128.0F;
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return look_up(iq4_levels(128), two_nibble_blocks(a + 2, b + 2));
  }
  ORRERY_INLINE static __m256 pairs(__m128i heads) { return Q4_0::pairs(heads); }
};
struct MXFP4 {
  static constexpr int kBytes = 17;
  static constexpr float kOffset = -12.0F;
  ORRERY_INLINE static __m512i two(const std::byte* a, const std::byte* b) {
    return look_up(mxfp4_levels(12), two_nibble_blocks(a + 1, b + 1));
  }
  /// mxfp4_scale_bits of the first bytes, each twice.
  ORRERY_INLINE static __m256 pairs(__m128i heads) {
    const __m256i e = _mm256_cvtepu8_epi32(
        _mm_shuffle_epi8(heads, _mm_setr_epi8(0, 0, 4, 4, 8, 8, 12, 12, -1, -1, -1, -1, -1, -1, -1, -1)));
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    const __mmask8 small = _mm256_cmplt_epi32_mask(e, _mm256_set1_epi32(2));
    return _mm256_castsi256_ps(_mm256_mask_sllv_epi32(normal, small, _mm256_set1_epi32(0x00200000), e));
  }
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

  template <int tokens, int blocks, int halves>
  ORRERY_INLINE static void step(const std::byte* w, const Activations<halves>& acts, int64_t b,
                                 Sums<tokens>& sums) {
    constexpr int kBytes = Format::kBytes;
    __m128i heads = _mm_cvtsi32_si128(head_word(w));
    if constexpr (blocks > 1) heads = _mm_insert_epi32(heads, head_word(w + kBytes), 1);
    if constexpr (blocks > 2) heads = _mm_insert_epi32(heads, head_word(w + 2 * kBytes), 2);
    if constexpr (blocks > 3) heads = _mm_insert_epi32(heads, head_word(w + 3 * kBytes), 3);
    const __m256 pairs = Format::pairs(heads);
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
        __m512i sum = _mm512_setzero_si512();
        if constexpr (halves == 2)
          sum = _mm512_slli_epi32(_mm512_dpbusd_epi32(sum, u, _mm512_loadu_si512(acts.high(t) + k)), 8);
        return _mm512_dpbusd_epi32(sum, u, _mm512_loadu_si512(acts.low(t) + k));
      };
      sums.dot[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot(low, 32 * b)),
                                    _mm512_permutexvar_ps(pick_low, scales), sums.dot[t]);
      if constexpr (blocks > 2) {
        sums.dot[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot(high, 32 * b + 64)),
                                      _mm512_permutexvar_ps(pick_high, scales), sums.dot[t]);
      }
    }
  }

  template <int tokens, int halves>
  ORRERY_INLINE static void row(const std::byte* w, const Activations<halves>& acts, int64_t cols,
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

#endif

}  // namespace orrery::kernels::ORRERY_ISA
