// One panel of 32 weight rows, unpacked once for all tokens of a call (AVX-512): rows in the lanes.
//   bytes   u8 [cols / 4][32][4]: for each 4 columns two vectors of 16 rows, the unsigned form of the format
//   scales  f32 [cols / sub][32], sub = 32 columns (Q2_K, Q3_K, Q6_K 16): d, or d * s
//   mins    Q4_1, Q5_1: f32 [cols / 32][32]. Q2_K, Q4_K, Q5_K: int16 pairs [cols / sub / 2][32][2] of the
//           integer mins, then f32 -m [cols / 256][32]
// Rows behind the matrix's last are copies of it; their sums are not stored.
#pragma once

#include "kernels/cpu/isa/linear_rows.h"

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

/// 16 bytes of nibbles at `at` of each row; `number` maps the codes of columns 4g..4g+3 of the 32.
template <class Number>
ORRERY_INLINE void unpack_nibbles32(const Rows16& rows, int64_t at, std::byte* bytes, int64_t group,
                                    Number number) {
  __m512i v[4];
  transpose16(rows, at, v);
#pragma GCC unroll 16
  for (int j = 0; j < 4; ++j) {
    put(bytes, group + j, number(low_nibbles(v[j]), j));
    put(bytes, group + 4 + j, number(high_nibbles(v[j]), 4 + j));
  }
}
ORRERY_INLINE void unpack_nibbles32(const Rows16& rows, int64_t at, std::byte* bytes, int64_t group) {
  unpack_nibbles32(rows, at, bytes, group, [](__m512i codes, int) { return codes; });
}
ORRERY_INLINE void unpack_levels32(const Rows16& rows, int64_t at, std::byte* bytes, int64_t group,
                                   __m128i levels) {
  const __m512i table = _mm512_broadcast_i32x4(levels);
  unpack_nibbles32(rows, at, bytes, group,
                   [table](__m512i codes, int) { return _mm512_shuffle_epi8(table, codes); });
}
/// With the words of fifth bits at `high`: bit 4g + i belongs to byte i of columns 4g..4g+3.
ORRERY_INLINE void unpack_fives32(const Rows16& rows, int64_t high, int64_t at, std::byte* bytes,
                                  int64_t group) {
  const __m512i words = rows.dword(high);
  unpack_nibbles32(rows, at, bytes, group, [words](__m512i codes, int g) {
    const __m512i four =
        _mm512_and_si512(_mm512_srl_epi32(words, _mm_cvtsi32_si128(4 * g)), _mm512_set1_epi32(15));
    const __m512i bits = _mm512_mullo_epi32(four, _mm512_set1_epi32(0x00204081));  // bit i to bit 8i
    return _mm512_mask_add_epi8(codes, _mm512_test_epi8_mask(bits, _mm512_set1_epi8(1)), codes,
                                _mm512_set1_epi8(16));
  });
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

struct TileQ5_0 {
  static constexpr bool kWide = false;
  static constexpr int kSub = 32, kOffsetShift = 4;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 32; ++b) {
      unpack_fives32(rows, 22 * b + 2, 22 * b + 6, panel.bytes + 4 * lane, 8 * b);
      _mm512_storeu_ps(panel.scales + 32 * b + lane, low_f16(rows.dword(22 * b)));
    }
  }
};

struct TileQ5_1 {
  static constexpr bool kWide = false;
  static constexpr int kSub = 32, kOffsetShift = 0;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    auto* mins = reinterpret_cast<float*>(panel.mins);
    for (int64_t b = 0; b < cols / 32; ++b) {
      unpack_fives32(rows, 24 * b + 4, 24 * b + 8, panel.bytes + 4 * lane, 8 * b);
      const __m512i head = rows.dword(24 * b);
      _mm512_storeu_ps(panel.scales + 32 * b + lane, low_f16(head));
      _mm512_storeu_ps(mins + 32 * b + lane, high_f16(head));
    }
  }
};

struct TileIQ4_NL {
  static constexpr bool kWide = false;
  static constexpr int kSub = 32, kOffsetShift = 7;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 32; ++b) {
      unpack_levels32(rows, 18 * b + 2, panel.bytes + 4 * lane, 8 * b, iq4_levels(128));
      _mm512_storeu_ps(panel.scales + 32 * b + lane, low_f16(rows.dword(18 * b)));
    }
  }
};

struct TileMXFP4 {
  static constexpr bool kWide = false;
  static constexpr int kSub = 32, kOffsetShift = 4;
  static void unpack(const Rows16& rows, int64_t cols, const Panel& panel, int lane) {
    for (int64_t b = 0; b < cols / 32; ++b) {
      unpack_levels32(rows, 17 * b + 1, panel.bytes + 4 * lane, 8 * b, mxfp4_levels(16));
      _mm512_storeu_ps(panel.scales + 32 * b + lane, scale(rows.dword(17 * b)));
    }
  }

 private:
  /// mxfp4_scale_bits of the lowest bytes.
  ORRERY_INLINE static __m512 scale(__m512i heads) {
    const __m512i e = _mm512_and_si512(heads, _mm512_set1_epi32(255));
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
    const __mmask16 small = _mm512_cmplt_epi32_mask(e, _mm512_set1_epi32(2));
    return _mm512_castsi512_ps(_mm512_mask_sllv_epi32(normal, small, _mm512_set1_epi32(0x00200000), e));
  }
};

#endif

}  // namespace orrery::kernels::ORRERY_ISA
