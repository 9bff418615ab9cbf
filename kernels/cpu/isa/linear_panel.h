// One panel of 32 weight rows, unpacked once for all tokens of a call (AVX-512): rows in the lanes.
//   bytes   u8 [cols / 4][32][4]: for each 4 columns two vectors of 16 rows, the unsigned form of the format
//   scales  f32 [cols / sub][32], sub = 32 columns (Q6_K 16): d, or d * s
//   mins    Q4_1: f32 [cols / 32][32]. Q4_K: int16 pairs [cols / 64][32][2] of the 6-bit mins, then f32 -m
//   [cols / 256][32]
// Rows behind the matrix's last are copies of it; their sums are not stored.
#pragma once

#include "kernels/cpu/isa/linear_parts.h"

namespace orrery::kernels::ORRERY_ISA {

struct Panel {
  std::byte* bytes;
  float* scales;
  std::byte* mins;
};

/// Where the parts of a panel lie in scratch of tile_scratch_bytes(cols).
ORRERY_INLINE Panel panel_at(std::byte* scratch, int64_t cols) {
  std::byte* scales = scratch + cols * kTilePanel;
  std::byte* mins = scales + (cols / 16 + 16) * kTilePanel * static_cast<int64_t>(sizeof(float));
  return {scratch, reinterpret_cast<float*>(scales), mins};
}

#if defined(ORRERY_ISA_AVX512)

/// Sixteen rows of a matrix, the last one repeated.
struct Rows16 {
  const std::byte* base;
  int32_t offset[16];

  Rows16(const std::byte* first, size_t row_bytes, int64_t rows) : base(first) {
    for (int64_t i = 0; i < 16; ++i) {
      const int64_t r = rows <= 0 ? 0 : (i < rows ? i : rows - 1);
      offset[i] = static_cast<int32_t>(r * static_cast<int64_t>(row_bytes));
    }
  }
  /// The dword at `at` of each row.
  __m512i dword(int64_t at) const {
    return _mm512_i32gather_epi32(_mm512_loadu_si512(offset), reinterpret_cast<const int*>(base + at), 1);
  }
};

/// 16 bytes of each row at `at`, dwords transposed: out[j] holds bytes 4j..4j+3 of rows 0..15.
ORRERY_INLINE void transpose16(const Rows16& rows, int64_t at, __m512i (&out)[4]) {
  __m512i a[4];
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    const auto part = [&](int lane) __attribute__((always_inline)) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows.base + rows.offset[i + 4 * lane] + at));
    };
    a[i] = _mm512_castsi128_si512(part(0));
    a[i] = _mm512_mask_broadcast_i32x4(a[i], 0x00F0, part(1));
    a[i] = _mm512_mask_broadcast_i32x4(a[i], 0x0F00, part(2));
    a[i] = _mm512_mask_broadcast_i32x4(a[i], 0xF000, part(3));
  }
  const __m512i low01 = _mm512_unpacklo_epi32(a[0], a[1]);
  const __m512i high01 = _mm512_unpackhi_epi32(a[0], a[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(a[2], a[3]);
  const __m512i high23 = _mm512_unpackhi_epi32(a[2], a[3]);
  out[0] = _mm512_unpacklo_epi64(low01, low23);
  out[1] = _mm512_unpackhi_epi64(low01, low23);
  out[2] = _mm512_unpacklo_epi64(high01, high23);
  out[3] = _mm512_unpackhi_epi64(high01, high23);
}

/// Writes the vector of columns 4g..4g+3; `bytes` is already at the half panel.
ORRERY_INLINE void put(std::byte* bytes, int64_t g, __m512i v) { _mm512_storeu_si512(bytes + g * 128, v); }

ORRERY_INLINE __m512i low_nibbles(__m512i v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
ORRERY_INLINE __m512i high_nibbles(__m512i v) { return low_nibbles(_mm512_srli_epi16(v, 4)); }

/// float16 in the low or the high halves of dwords.
ORRERY_INLINE __m512 low_f16(__m512i dwords) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(dwords)); }
ORRERY_INLINE __m512 high_f16(__m512i dwords) { return low_f16(_mm512_srli_epi32(dwords, 16)); }

ORRERY_INLINE void unpack_nibbles32(const Rows16& rows, int64_t at, std::byte* bytes, int64_t group) {
  __m512i v[4];
  transpose16(rows, at, v);
#pragma GCC unroll 16
  for (int j = 0; j < 4; ++j) {
    put(bytes, group + j, low_nibbles(v[j]));
    put(bytes, group + 4 + j, high_nibbles(v[j]));
  }
}

// unpack(rows, cols, panel, lane): sixteen rows into lanes [lane, lane + 16) of the panel (lane 0 or 16).

struct TileQ4_0 {
  static constexpr bool kWide = false;    // activation blocks of 256
  static constexpr int kSub = 32;         // columns of one weight scale
  static constexpr int kOffsetShift = 3;  // weights are stored plus 2^shift; 0: no offset
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 32; ++b) {
      unpack_nibbles32(rows, 18 * b + 2, panel.bytes + 4 * lane, 8 * b);
      _mm512_storeu_ps(panel.scales + 32 * b + lane, low_f16(rows.dword(18 * b)));
    }
  }
};

struct TileQ4_1 {
  static constexpr bool kWide = false;
  static constexpr int kSub = 32, kOffsetShift = 0;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    auto* mins = reinterpret_cast<float*>(panel.mins);
    for (int64_t b = 0; b < cols / 32; ++b) {
      unpack_nibbles32(rows, 20 * b + 4, panel.bytes + 4 * lane, 8 * b);
      const __m512i head = rows.dword(20 * b);
      _mm512_storeu_ps(panel.scales + 32 * b + lane, low_f16(head));
      _mm512_storeu_ps(mins + 32 * b + lane, high_f16(head));
    }
  }
};

struct TileQ8_0 {
  static constexpr bool kWide = false;
  static constexpr int kSub = 32, kOffsetShift = 7;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 32; ++b) {
#pragma GCC unroll 16
      for (int part = 0; part < 2; ++part) {
        __m512i v[4];
        transpose16(rows, 34 * b + 2 + 16 * part, v);
#pragma GCC unroll 16
        for (int j = 0; j < 4; ++j) {
          put(panel.bytes + 4 * lane, 8 * b + 4 * part + j, _mm512_xor_si512(v[j], _mm512_set1_epi8(-128)));
        }
      }
      _mm512_storeu_ps(panel.scales + 32 * b + lane, low_f16(rows.dword(34 * b)));
    }
  }
};

struct TileQ4_K {
  static constexpr bool kWide = true;
  static constexpr int kSub = 32, kOffsetShift = 0;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    std::byte* factors = panel.mins + cols / 64 * 128;
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
      const __m512i head = rows.dword(at);
      const __m512 d = low_f16(head);
      _mm512_storeu_ps(reinterpret_cast<float*>(factors) + 32 * b + lane,
                       _mm512_sub_ps(_mm512_setzero_ps(), high_f16(head)));
      const __m512i w[3] = {rows.dword(at + 4), rows.dword(at + 8), rows.dword(at + 12)};
      __m512i min[8];
#pragma GCC unroll 16
      for (int s = 0; s < 8; ++s) {
        __m512i scale;
        sub_block(w, s, scale, min[s]);
        _mm512_storeu_ps(panel.scales + 32 * (8 * b + s) + lane, _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale)));
      }
      for (int s = 0; s < 8; s += 2) {
        _mm512_storeu_si512(panel.mins + (4 * b + s / 2) * 128 + 4 * lane,
                            _mm512_or_si512(min[s], _mm512_slli_epi32(min[s + 1], 16)));
      }
    }
  }

 private:
  ORRERY_INLINE static void sub_block(const __m512i (&w)[3], int s, __m512i& scale, __m512i& min) {
    const auto bits = [](__m512i v, int shift, int mask) __attribute__((always_inline)) {
      return _mm512_and_si512(_mm512_srl_epi32(v, _mm_cvtsi32_si128(shift)), _mm512_set1_epi32(mask));
    };
    if (s < 4) {
      scale = bits(w[0], 8 * s, 63);
      min = bits(w[1], 8 * s, 63);
      return;
    }
    const int byte = 8 * (s - 4);
    scale = _mm512_or_si512(bits(w[2], byte, 15), _mm512_slli_epi32(bits(w[0], byte + 6, 3), 4));
    min = _mm512_or_si512(bits(w[2], byte + 4, 15), _mm512_slli_epi32(bits(w[1], byte + 6, 3), 4));
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
                _mm512_or_si512(low_nibbles(low[j]),
                                two_bits(_mm512_srl_epi16(h, _mm_cvtsi32_si128(shift)))));
            put(panel.bytes + 4 * lane, group + 16 + j,
                _mm512_or_si512(high_nibbles(low[j]),
                                two_bits(_mm512_srl_epi16(h, _mm_cvtsi32_si128(shift + 4)))));
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

 private:
  /// The low two bits of each byte, to bits 4 and 5.
  ORRERY_INLINE static __m512i two_bits(__m512i v) {
    return _mm512_slli_epi16(_mm512_and_si512(v, _mm512_set1_epi8(3)), 4);
  }
};

#endif

}  // namespace orrery::kernels::ORRERY_ISA
