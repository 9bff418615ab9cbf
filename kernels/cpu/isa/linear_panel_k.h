// Panels of the formats in blocks of 256 (AVX-512); linear_panel.h has the layout.
#pragma once

#include "kernels/cpu/isa/linear_panel.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX512)

/// Every lane's bits from `shift` on.
ORRERY_INLINE __m512i bits_at(__m512i v, int shift, int mask) {
  return _mm512_and_si512(_mm512_srl_epi32(v, _mm_cvtsi32_si128(shift)), _mm512_set1_epi32(mask));
}
ORRERY_INLINE __m512i pairs_at(__m512i bytes, int shift) {
  return _mm512_and_si512(_mm512_srl_epi16(bytes, _mm_cvtsi32_si128(shift)), _mm512_set1_epi8(3));
}
/// q + value where bit `bit` of a byte is set.
ORRERY_INLINE __m512i add_where_bit(__m512i q, __m512i bytes, int bit, char value) {
  const __mmask64 set = _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(static_cast<char>(1 << bit)));
  return _mm512_mask_add_epi8(q, set, q, _mm512_set1_epi8(value));
}

/// Where -m of each block of 256 lies, behind the pairs of mins.
template <class Format>
ORRERY_INLINE float* min_factors(const Panel& panel, int64_t cols) {
  return reinterpret_cast<float*>(panel.mins + cols / (2 * Format::kSub) * 128);
}

/// Scales and mins of sub-blocks s and s + 1 of 256 / kSub.
template <class Format>
struct ScalesMins {
  const Panel& panel;
  int64_t block;
  int lane;
  __m512 d;

  void put(int s, const __m512i (&scale)[2], const __m512i (&min)[2]) const {
    constexpr int kSubs = 256 / Format::kSub;
#pragma GCC unroll 16
    for (int i = 0; i < 2; ++i)
      _mm512_storeu_ps(panel.scales + 32 * (kSubs * block + s + i) + lane,
                       _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale[i])));
    _mm512_storeu_si512(panel.mins + (kSubs / 2 * block + s / 2) * 128 + 4 * lane,
                        _mm512_or_si512(min[0], _mm512_slli_epi32(min[1], 16)));
  }
};

/// d and m in one dword: -m goes to its place.
template <class Format>
ORRERY_INLINE ScalesMins<Format> scales_mins(const Panel& panel, int64_t cols, int64_t block, int lane,
                                             __m512i head) {
  _mm512_storeu_ps(min_factors<Format>(panel, cols) + 32 * block + lane,
                   _mm512_sub_ps(_mm512_setzero_ps(), high_f16(head)));
  return {panel, block, lane, low_f16(head)};
}

/// Q4_K and Q5_K: 6-bit scales and mins in 12 bytes.
template <class Format>
ORRERY_INLINE void unpack_six_bits(const Rows16& rows, int64_t at, const ScalesMins<Format>& to) {
  const __m512i w[3] = {rows.dword(at), rows.dword(at + 4), rows.dword(at + 8)};
  const auto split = [&w](int low, int s) __attribute__((always_inline)) {  // low: 0 scales, 4 mins
    const __m512i& first = w[low / 4];
    if (s < 4) return bits_at(first, 8 * s, 63);
    const int byte = 8 * (s - 4);
    return _mm512_or_si512(bits_at(w[2], byte + low, 15), _mm512_slli_epi32(bits_at(first, byte + 6, 3), 4));
  };
#pragma GCC unroll 16
  for (int s = 0; s < 8; s += 2) to.put(s, {split(0, s), split(0, s + 1)}, {split(4, s), split(4, s + 1)});
}

struct TileQ4_K {
  static constexpr bool kWide = true;
  static constexpr int kSub = 32, kOffsetShift = 0;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 256; ++b) {
      const int64_t at = 144 * b;
      for (int c = 0; c < 4;
           ++c) {  // 32 bytes: columns 64c.. in the low nibbles, 64c + 32.. in the high ones
#pragma GCC unroll 16
        for (int part = 0; part < 2; ++part) {
          __m512i v[4];
          transpose16(rows, at + 16 + 32 * c + 16 * part, v);
          const int64_t group = 64 * b + 16 * c + 4 * part;
#pragma GCC unroll 16
          for (int j = 0; j < 4; ++j) {
            put(panel.bytes + 4 * lane, group + j, low_nibbles(v[j]));
            put(panel.bytes + 4 * lane, group + 8 + j, high_nibbles(v[j]));
          }
        }
      }
      unpack_six_bits(rows, at + 4, scales_mins<TileQ4_K>(panel, cols, b, lane, rows.dword(at)));
    }
  }
};

struct TileQ5_K {
  static constexpr bool kWide = true;
  static constexpr int kSub = 32, kOffsetShift = 0;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 256; ++b) {
      const int64_t at = 176 * b;
#pragma GCC unroll 16
      for (int part = 0; part < 2; ++part) {
        __m512i fifth[4];
        transpose16(rows, at + 16 + 16 * part, fifth);
        for (int c = 0; c < 4; ++c) {
          __m512i v[4];
          transpose16(rows, at + 48 + 32 * c + 16 * part, v);
          const int64_t group = 64 * b + 16 * c + 4 * part;
#pragma GCC unroll 16
          for (int j = 0; j < 4; ++j) {
            put(panel.bytes + 4 * lane, group + j, add_where_bit(low_nibbles(v[j]), fifth[j], 2 * c, 16));
            put(panel.bytes + 4 * lane, group + 8 + j,
                add_where_bit(high_nibbles(v[j]), fifth[j], 2 * c + 1, 16));
          }
        }
      }
      unpack_six_bits(rows, at + 4, scales_mins<TileQ5_K>(panel, cols, b, lane, rows.dword(at)));
    }
  }
};

struct TileQ2_K {
  static constexpr bool kWide = true;
  static constexpr int kSub = 16, kOffsetShift = 0;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 256; ++b) {
      const int64_t at = 84 * b;
      for (int chunk = 0; chunk < 4; ++chunk) {  // 16 bytes: halves of 128 columns, four groups each
        __m512i v[4];
        transpose16(rows, at + 16 + 16 * chunk, v);
        const int64_t group = 64 * b + 32 * (chunk / 2) + 4 * (chunk % 2);
#pragma GCC unroll 16
        for (int g = 0; g < 4; ++g) {
#pragma GCC unroll 16
          for (int j = 0; j < 4; ++j) put(panel.bytes + 4 * lane, group + 8 * g + j, pairs_at(v[j], 2 * g));
        }
      }
      const auto to = scales_mins<TileQ2_K>(panel, cols, b, lane, rows.dword(at + 80));
      for (int s = 0; s < 16; s += 4) {
        const __m512i four = rows.dword(at + s);
#pragma GCC unroll 16
        for (int j = 0; j < 4; j += 2)
          to.put(s + j, {bits_at(four, 8 * j, 15), bits_at(four, 8 * j + 8, 15)},
                 {bits_at(four, 8 * j + 4, 15), bits_at(four, 8 * j + 12, 15)});
      }
    }
  }
};

struct TileQ3_K {
  static constexpr bool kWide = true;
  static constexpr int kSub = 16, kOffsetShift = 2;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 256; ++b) {
      const int64_t at = 110 * b;
#pragma GCC unroll 16
      for (int part = 0; part < 2; ++part) {
        __m512i third[4];
        transpose16(rows, at + 16 * part, third);
#pragma GCC unroll 16
        for (int half = 0; half < 2; ++half) {
          __m512i v[4];
          transpose16(rows, at + 32 + 32 * half + 16 * part, v);
          const int64_t group = 64 * b + 32 * half + 4 * part;
#pragma GCC unroll 16
          for (int g = 0; g < 4; ++g) {
#pragma GCC unroll 16
            for (int j = 0; j < 4; ++j)
              put(panel.bytes + 4 * lane, group + 8 * g + j,
                  add_where_bit(pairs_at(v[j], 2 * g), third[j], 4 * half + g, 4));
          }
        }
      }
      const __m512 d = high_f16(rows.dword(at + 106));  // the block's last two bytes
      const __m512i w[3] = {rows.dword(at + 96), rows.dword(at + 100), rows.dword(at + 104)};
#pragma GCC unroll 16
      for (int s = 0; s < 16; ++s) {
        const __m512i low = bits_at(w[s / 4 % 2], 8 * (s % 4) + 4 * (s / 8), 15);
        const __m512i high = bits_at(w[2], 8 * (s % 4) + 2 * (s / 4), 3);
        const __m512i scale =
            _mm512_sub_epi32(_mm512_or_si512(low, _mm512_slli_epi32(high, 4)), _mm512_set1_epi32(32));
        _mm512_storeu_ps(panel.scales + 32 * (16 * b + s) + lane,
                         _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale)));
      }
    }
  }
};

struct TileQ6_K {
  static constexpr bool kWide = true;
  static constexpr int kSub = 16, kOffsetShift = 5;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 256; ++b) {
      const int64_t at = 210 * b;
#pragma GCC unroll 16
      for (int half = 0; half < 2; ++half) {
        __m512i high[2][4];
#pragma GCC unroll 16
        for (int part = 0; part < 2; ++part) transpose16(rows, at + 128 + 32 * half + 16 * part, high[part]);
#pragma GCC unroll 16
        for (int chunk = 0; chunk < 4; ++chunk) {  // 16 low bytes: groups chunk / 2 and chunk / 2 + 2
          __m512i low[4];
          transpose16(rows, at + 64 * half + 16 * chunk, low);
          const int64_t group = 64 * b + 32 * half + 4 * chunk;
#pragma GCC unroll 16
          for (int j = 0; j < 4; ++j) {
            const __m512i h = high[chunk % 2][j];
            const int shift = 2 * (chunk / 2);
            put(panel.bytes + 4 * lane, group + j,
                _mm512_or_si512(low_nibbles(low[j]), _mm512_slli_epi16(pairs_at(h, shift), 4)));
            put(panel.bytes + 4 * lane, group + 16 + j,
                _mm512_or_si512(high_nibbles(low[j]), _mm512_slli_epi16(pairs_at(h, shift + 4), 4)));
          }
        }
      }
      const __m512 d = high_f16(rows.dword(at + 206));  // the block's last two bytes
      for (int s = 0; s < 16; s += 4) {
        const __m512i four = rows.dword(at + 192 + s);
#pragma GCC unroll 16
        for (int j = 0; j < 4; ++j) {
          const __m512i scale = _mm512_srai_epi32(_mm512_sll_epi32(four, _mm_cvtsi32_si128(24 - 8 * j)), 24);
          _mm512_storeu_ps(panel.scales + 32 * (16 * b + s + j) + lane,
                           _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale)));
        }
      }
    }
  }
};

struct TileIQ4_XS {
  static constexpr bool kWide = true;
  static constexpr int kSub = 32, kOffsetShift = 7;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 256; ++b) {
      const int64_t at = 136 * b;
      const __m512i head = rows.dword(at), nibbles = rows.dword(at + 4);  // head: d, then pairs of the scales
      const __m512 d = low_f16(head);
#pragma GCC unroll 16
      for (int s = 0; s < 8; ++s) {
        unpack_levels32(rows, at + 8 + 16 * s, panel.bytes + 4 * lane, 64 * b + 8 * s, iq4_levels(128));
        const __m512i scale =
            _mm512_or_si512(bits_at(nibbles, 4 * s, 15), _mm512_slli_epi32(bits_at(head, 16 + 2 * s, 3), 4));
        _mm512_storeu_ps(
            panel.scales + 32 * (8 * b + s) + lane,
            _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_sub_epi32(scale, _mm512_set1_epi32(32)))));
      }
    }
  }
};

#endif

}  // namespace orrery::kernels::ORRERY_ISA
