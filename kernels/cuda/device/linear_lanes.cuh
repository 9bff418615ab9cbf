// Weights in the registers of mma.m16n8k16: lane (g, t) of a warp holds, of a group of 128 columns, what it
// needs of rows g and g + 8 (kernels/cuda/linear_packing.h says which columns). Lanes<dtype>:
//   load      reads both rows' parts: 16-byte loads of quants that pass the first cache by
//   pairs     block j of one row as four pairs of f16: quants as integers, exactly
//   scale     what block j (kHalves: its half i) is multiplied with. kFolded: pairs() has multiplied with the
//             block's integer scale, and the group is multiplied with factor()
//   min_pair  kMins: the mins of blocks 0 and 1, or 2 and 3 (upper), as f16; times min_factor()
//   half_min  kHalfMins: the min of half i of block j, twice, as f16; times min_factor()
#pragma once

#include "kernels/cuda/device/dequantise.cuh"
#include "kernels/cuda/linear_packing.h"

namespace orrery::kernels::cuda {

__device__ inline uint4 load_weights(const uint8_t* at) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v;
}

__device__ inline uint32_t word_of(const uint4& v, int j) {
  return j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w;
}

__device__ inline float half_of(uint32_t word, int upper) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(upper != 0 ? word >> 16 : word & 0xffff)));
}

/// Two f16 sums and products on bits.
__device__ inline uint32_t add_pair(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
__device__ inline uint32_t fma_pair(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// 1024 + q is exact in f16 and has q in its low bits; 1024 + 16 q has it four bits higher.
constexpr uint32_t k1024 = 0x64006400, kSixteenth = 0x2c002c00;
ORRERY_HOST_DEVICE constexpr uint32_t pair_of(uint32_t half) { return half | half << 16; }

/// Four pairs of 5-bit numbers, each q of the even and 16 q of the odd pairs (fifth_bit() has their places).
struct FiveBits {
  uint32_t pair[4];
  __device__ FiveBits(uint32_t word, uint32_t fifth, int j) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int shift = fifth_shift(j, 2 * h);
      const uint32_t bits = shift >= 0 ? fifth << shift : fifth >> -shift;
      const uint32_t codes = h == 0 ? word : word >> 8;
      pair[2 * h] = (codes & 0x000f000fU) | (bits & 0x00100010U);
      pair[2 * h + 1] = (codes & 0x00f000f0U) | (bits & 0x01000100U);
    }
  }
};

/// Eight nibbles to four pairs of q - offset. The halves: `even` is -(1024 + offset), `odd` is -(64 +
/// offset).
__device__ inline void nibble_pairs(uint32_t word, uint32_t even, uint32_t odd, uint32_t (&pairs)[4]) {
  const uint32_t shifted = word >> 8;
  pairs[0] = add_pair((word & 0x000f000fU) | k1024, even);
  pairs[1] = fma_pair((word & 0x00f000f0U) | k1024, kSixteenth, odd);
  pairs[2] = add_pair((shifted & 0x000f000fU) | k1024, even);
  pairs[3] = fma_pair((shifted & 0x00f000f0U) | k1024, kSixteenth, odd);
}

/// The same with fifth bits, `fifth` being the lane's word of them: block j.
__device__ inline void five_bit_pairs(uint32_t word, uint32_t fifth, int j, uint32_t even, uint32_t odd,
                                      uint32_t (&pairs)[4]) {
  const FiveBits q(word, fifth, j);
  pairs[0] = add_pair(q.pair[0] | k1024, even);
  pairs[1] = fma_pair(q.pair[1] | k1024, kSixteenth, odd);
  pairs[2] = add_pair(q.pair[2] | k1024, even);
  pairs[3] = fma_pair(q.pair[3] | k1024, kSixteenth, odd);
}

/// Eight codes to four pairs of table entries: `table` holds 16 bytes, each 128 more than what it stands for.
__device__ inline void level_pairs(uint32_t word, const uint4& table, uint32_t (&pairs)[4]) {
  uint32_t bytes[2];  // of each pair's low halves, of its high halves
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t codes = half == 0 ? word : word >> 16;
    const uint32_t low = __byte_perm(table.x, table.y, codes & 0x7777U);
    const uint32_t high = __byte_perm(table.z, table.w, codes & 0x7777U);
    bytes[half] = __byte_perm(low, high, 0x3210U | (codes & 0x8888U) >> 1);
  }
  const uint32_t first = __byte_perm(bytes[0], bytes[1], 0x5140),
                 last = __byte_perm(bytes[0], bytes[1], 0x7362);
  pairs[0] = add_pair(__byte_perm(first, k1024, 0x5150), pair_of(0xe480));  // -1152
  pairs[1] = add_pair(__byte_perm(first, k1024, 0x5352), pair_of(0xe480));
  pairs[2] = add_pair(__byte_perm(last, k1024, 0x5150), pair_of(0xe480));
  pairs[3] = add_pair(__byte_perm(last, k1024, 0x5352), pair_of(0xe480));
}

/// Four entries of a table for level_pairs, from `first` on.
template <int (*value)(int)>
ORRERY_HOST_DEVICE constexpr uint32_t level_word(int first) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= static_cast<uint32_t>(value(first + i) + 128) << (8 * i);
  return word;
}

/// An unsigned byte of `word` as float, exactly.
__device__ inline float byte_float(uint32_t word, int byte) {
  return __uint_as_float(__byte_perm(word, 0x4b000000U, 0x7440U + static_cast<uint32_t>(byte))) - 8388608.0F;
}

/// A signed byte: with its sign bit turned it is 128 larger.
__device__ inline float signed_byte_float(uint32_t word, int byte) {
  return byte_float(word ^ 0x80808080U, byte) - 128.0F;
}

__device__ inline uint32_t mul_pair(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

/// The integer bytes `low` and `high` (0..3) of `word` as a pair.
__device__ inline uint32_t byte_pair(uint32_t word, int low, int high) {
  return add_pair(__byte_perm(word, k1024, static_cast<uint32_t>(0x5050 | low | high << 8)), pair_of(0xe400));
}

/// An integer scale that is multiplied into the quants: (1024 + q) s - 1024 s, rounded once, is exact up to
/// 2048.
struct FoldedScale {
  uint32_t scale, sixteenth, even, odd;
  __device__ explicit FoldedScale(uint32_t pair)
      : scale(pair),
        sixteenth(mul_pair(pair, kSixteenth)),
        even(mul_pair(pair, pair_of(0xe400))),
        odd(mul_pair(pair, pair_of(0xd400))) {}
  /// `quants`: q of the even and 16 q of the odd pairs.
  __device__ void multiply(const uint32_t (&quants)[4], uint32_t (&out)[4]) const {
    out[0] = fma_pair(quants[0] | k1024, scale, even);
    out[1] = fma_pair(quants[1] | k1024, sixteenth, odd);
    out[2] = fma_pair(quants[2] | k1024, scale, even);
    out[3] = fma_pair(quants[3] | k1024, sixteenth, odd);
  }
};

__device__ inline uint4 iq4_table() {
  constexpr uint4 table = {level_word<iq4_value>(0), level_word<iq4_value>(4), level_word<iq4_value>(8),
                           level_word<iq4_value>(12)};
  return table;
}

template <DType dtype>
struct Lanes;

/// Where a warp reads: two rows of one matrix.
struct RowPair {
  const uint8_t* row[2];
};

template <>
struct Lanes<DType::q4_0> {
  static constexpr bool kMins = false, kHalves = false, kFolded = false, kHalfMins = false;
  uint4 quants[2];
  uint2 scales[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      quants[r] = load_weights(rows.row[r] + group * 64 + 16 * t);
      scales[r] = __ldg(reinterpret_cast<const uint2*>(rows.row[r] + at.scales) + group);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    nibble_pairs(word_of(quants[r], j), pair_of(0xe408), pair_of(0xd480), out);  // -1032, -72
  }
  __device__ float scale(int r, int j, int) const {
    return half_of(j < 2 ? scales[r].x : scales[r].y, j % 2);
  }
};

template <>
struct Lanes<DType::q4_1> {
  static constexpr bool kMins = true, kHalves = false, kFolded = false, kHalfMins = false;
  uint4 quants[2];
  uint4 scales[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      quants[r] = load_weights(rows.row[r] + group * 64 + 16 * t);
      scales[r] = __ldg(reinterpret_cast<const uint4*>(rows.row[r] + at.scales) + group);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    nibble_pairs(word_of(quants[r], j), pair_of(0xe400), pair_of(0xd400), out);  // -1024, -64
  }
  __device__ float scale(int r, int j, int) const { return half_of(word_of(scales[r], j), 0); }
  __device__ uint32_t min_pair(int r, int upper, int) const {
    const uint4& s = scales[r];
    return upper == 0 ? __byte_perm(s.x, s.y, 0x7632) : __byte_perm(s.z, s.w, 0x7632);
  }
  __device__ float min_factor(int) const { return 1.0F; }
};

template <>
struct Lanes<DType::q8_0> {
  static constexpr bool kMins = false, kHalves = false, kFolded = false, kHalfMins = false;
  uint4 quants[2][2];  // blocks 0 and 1, 2 and 3
  uint2 scales[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      quants[r][0] = load_weights(rows.row[r] + group * 128 + 16 * t);
      quants[r][1] = load_weights(rows.row[r] + group * 128 + 64 + 16 * t);
      scales[r] = __ldg(reinterpret_cast<const uint2*>(rows.row[r] + at.scales) + group);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint32_t word = word_of(quants[r][j / 2], 2 * (j % 2) + i) ^ 0x80808080U;  // q + 128
      out[2 * i] = add_pair(__byte_perm(word, k1024, 0x5150), pair_of(0xe480));        // -1152
      out[2 * i + 1] = add_pair(__byte_perm(word, k1024, 0x5352), pair_of(0xe480));
    }
  }
  __device__ float scale(int r, int j, int) const {
    return half_of(j < 2 ? scales[r].x : scales[r].y, j % 2);
  }
};

template <>
struct Lanes<DType::q4_k> {
  static constexpr bool kMins = true, kHalves = false, kFolded = true, kHalfMins = false;
  uint4 quants[2];
  uint4 heads[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      quants[r] = load_weights(rows.row[r] + group * 64 + 16 * t);
      heads[r] = __ldg(reinterpret_cast<const uint4*>(rows.row[r] + at.scales) + group / 2);
    }
  }
  /// The group's four 6-bit scales, a byte each; `group` is even or odd.
  __device__ uint32_t scale_bytes(int r, int group) const {
    const uint4& h = heads[r];
    return group % 2 == 0 ? h.y & 0x3f3f3f3fU : (h.w & 0x0f0f0f0fU) | ((h.y >> 2) & 0x30303030U);
  }
  __device__ uint32_t min_bytes(int r, int group) const {
    const uint4& h = heads[r];
    return group % 2 == 0 ? h.z & 0x3f3f3f3fU : ((h.w >> 4) & 0x0f0f0f0fU) | ((h.z >> 2) & 0x30303030U);
  }
  /// Quants times their block's integer scale, at most 945.
  __device__ void pairs(int r, int j, int group, uint32_t (&out)[4]) const {
    const uint32_t word = word_of(quants[r], j), shifted = word >> 8;
    const uint32_t q[4] = {word & 0x000f000fU, word & 0x00f000f0U, shifted & 0x000f000fU,
                           shifted & 0x00f000f0U};
    FoldedScale(byte_pair(scale_bytes(r, group), j, j)).multiply(q, out);
  }
  __device__ float factor(int r) const { return half_of(heads[r].x, 0); }
  __device__ uint32_t min_pair(int r, int upper, int group) const {
    return byte_pair(min_bytes(r, group), 2 * upper, 2 * upper + 1);
  }
  __device__ float min_factor(int r) const { return -half_of(heads[r].x, 1); }
};

template <>
struct Lanes<DType::q5_0> : Lanes<DType::q4_0> {
  uint32_t fifth[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
    Lanes<DType::q4_0>::load(rows, at, group, t);
#pragma unroll
    for (int r = 0; r < 2; ++r)
      fifth[r] = __ldg(reinterpret_cast<const uint32_t*>(rows.row[r] + at.high + group * 16) + t);
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    five_bit_pairs(word_of(quants[r], j), fifth[r], j, pair_of(0xe410), pair_of(0xd500), out);  // -1040, -80
  }
};

template <>
struct Lanes<DType::q5_1> : Lanes<DType::q4_1> {
  uint32_t fifth[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
    Lanes<DType::q4_1>::load(rows, at, group, t);
#pragma unroll
    for (int r = 0; r < 2; ++r)
      fifth[r] = __ldg(reinterpret_cast<const uint32_t*>(rows.row[r] + at.high + group * 16) + t);
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    five_bit_pairs(word_of(quants[r], j), fifth[r], j, pair_of(0xe400), pair_of(0xd400), out);  // -1024, -64
  }
};

template <>
struct Lanes<DType::q5_k> : Lanes<DType::q4_k> {
  uint32_t fifth[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
    Lanes<DType::q4_k>::load(rows, at, group, t);
#pragma unroll
    for (int r = 0; r < 2; ++r)
      fifth[r] = __ldg(reinterpret_cast<const uint32_t*>(rows.row[r] + at.high + group * 16) + t);
  }
  /// Quants times their block's integer scale, at most 1953: exact, as for Q4_K.
  __device__ void pairs(int r, int j, int group, uint32_t (&out)[4]) const {
    const FiveBits q(word_of(quants[r], j), fifth[r], j);
    const FoldedScale scale(byte_pair(scale_bytes(r, group), j, j));
    scale.multiply(q.pair, out);
  }
};

template <>
struct Lanes<DType::iq4_nl> : Lanes<DType::q4_0> {
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    level_pairs(word_of(quants[r], j), iq4_table(), out);
  }
};

template <>
struct Lanes<DType::mxfp4> {
  static constexpr bool kMins = false, kHalves = false, kFolded = false, kHalfMins = false;
  uint4 quants[2];
  uint32_t exponents[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      quants[r] = load_weights(rows.row[r] + group * 64 + 16 * t);
      exponents[r] = __ldg(reinterpret_cast<const uint32_t*>(rows.row[r] + at.scales) + group);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    constexpr uint4 table = {level_word<mxfp4_value>(0), level_word<mxfp4_value>(4),
                             level_word<mxfp4_value>(8), level_word<mxfp4_value>(12)};
    level_pairs(word_of(quants[r], j), table, out);
  }
  __device__ float scale(int r, int j, int) const {
    return __uint_as_float(mxfp4_scale_bits(exponents[r] >> (8 * j) & 255U));
  }
};

template <>
struct Lanes<DType::iq4_xs> {
  static constexpr bool kMins = false, kHalves = false, kFolded = false, kHalfMins = false;
  uint4 quants[2];
  uint32_t scales[2];
  unsigned short deltas[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      quants[r] = load_weights(rows.row[r] + group * 64 + 16 * t);
      scales[r] = __ldg(reinterpret_cast<const uint32_t*>(rows.row[r] + at.scales) + group);
      deltas[r] = __ldg(reinterpret_cast<const unsigned short*>(rows.row[r] + at.deltas) + group / 2);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    level_pairs(word_of(quants[r], j), iq4_table(), out);
  }
  __device__ float scale(int r, int j, int) const {
    return __half2float(__ushort_as_half(deltas[r])) * signed_byte_float(scales[r], j);
  }
};

template <>
struct Lanes<DType::q3_k> {
  static constexpr bool kMins = false, kHalves = true, kFolded = false, kHalfMins = false;
  uint4 quants[2];
  uint2 scales[2];
  unsigned short deltas[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const uint8_t* row = rows.row[r];
      quants[r] = load_weights(row + group * 64 + 16 * t);
      scales[r] = __ldg(reinterpret_cast<const uint2*>(row + at.scales) + group);
      deltas[r] = __ldg(reinterpret_cast<const unsigned short*>(row + at.deltas) + group / 2);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    nibble_pairs(word_of(quants[r], j), pair_of(0xe404), pair_of(0xd440), out);  // -1028, -68
  }
  __device__ float scale(int r, int j, int i) const {
    return __half2float(__ushort_as_half(deltas[r])) *
           signed_byte_float(j < 2 ? scales[r].x : scales[r].y, 2 * (j % 2) + i);
  }
};

/// Mins of 16 columns: there are no sums of src for them, so they are multiplied with src itself.
template <>
struct Lanes<DType::q2_k> {
  static constexpr bool kMins = false, kHalves = true, kFolded = false, kHalfMins = true;
  uint4 quants[2];
  uint2 scales[2];  // a byte for 16 columns: scale in the low, min in the high nibble
  uint32_t deltas[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const uint8_t* row = rows.row[r];
      quants[r] = load_weights(row + group * 64 + 16 * t);
      scales[r] = __ldg(reinterpret_cast<const uint2*>(row + at.scales) + group);
      deltas[r] = __ldg(reinterpret_cast<const uint32_t*>(row + at.deltas) + group / 2);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    nibble_pairs(word_of(quants[r], j), pair_of(0xe400), pair_of(0xd400), out);  // -1024, -64
  }
  __device__ float scale(int r, int j, int i) const {
    return half_of(deltas[r], 0) * byte_float(half_scales(r, j) & 0x0f0f0f0fU, 2 * (j % 2) + i);
  }
  __device__ uint32_t half_min(int r, int j, int i) const {
    const int byte = 2 * (j % 2) + i;
    return byte_pair((half_scales(r, j) >> 4) & 0x0f0f0f0fU, byte, byte);
  }
  __device__ float min_factor(int r) const { return -half_of(deltas[r], 1); }

 private:
  __device__ uint32_t half_scales(int r, int j) const { return j < 2 ? scales[r].x : scales[r].y; }
};

template <>
struct Lanes<DType::q6_k> {
  static constexpr bool kMins = false, kHalves = true, kFolded = false, kHalfMins = false;
  uint4 quants[2];
  uint2 high[2];
  uint2 scales[2];
  unsigned short deltas[2];

  __device__ void load(const RowPair& rows, const PackedRow& at, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const uint8_t* row = rows.row[r];
      quants[r] = load_weights(row + group * 64 + 16 * t);
      high[r] = __ldg(reinterpret_cast<const uint2*>(row + at.high + group * 32) + t);
      scales[r] = __ldg(reinterpret_cast<const uint2*>(row + at.scales) + group);
      deltas[r] = __ldg(reinterpret_cast<const unsigned short*>(row + at.deltas) + group / 2);
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    const uint32_t low = word_of(quants[r], j), bits = j < 2 ? high[r].x : high[r].y;
    const uint32_t shifted = low >> 8;
    const uint32_t first = j % 2 == 0 ? bits << 4 : bits >> 4;  // high_bit() has these places
    const uint32_t last = j % 2 == 0 ? bits << 2 : bits >> 6;
    const uint32_t even = pair_of(0xe420), odd = pair_of(0xd600);  // -1056, -96
    out[0] = add_pair((low & 0x000f000fU) | (first & 0x00300030U) | k1024, even);
    out[1] = fma_pair((low & 0x00f000f0U) | (first & 0x03000300U) | k1024, kSixteenth, odd);
    out[2] = add_pair((shifted & 0x000f000fU) | (last & 0x00300030U) | k1024, even);
    out[3] = fma_pair((shifted & 0x00f000f0U) | (last & 0x03000300U) | k1024, kSixteenth, odd);
  }
  __device__ float scale(int r, int j, int i) const {
    return __half2float(__ushort_as_half(deltas[r])) *
           signed_byte_float(j < 2 ? scales[r].x : scales[r].y, 2 * (j % 2) + i);
  }
};

/// f16 and bf16 as stored: 8 columns a lane and block, in their own order.
struct StoredLanes {
  static constexpr bool kMins = false, kHalves = false, kFolded = false, kHalfMins = false;
  uint4 quants[2][4];

  __device__ void load(const RowPair& rows, int cols, int group, int t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = group * 128 + 32 * j + 8 * t;
        quants[r][j] = column < cols ? load_weights(rows.row[r] + 2 * static_cast<int64_t>(column)) : uint4{};
      }
    }
  }
  __device__ void pairs(int r, int j, int, uint32_t (&out)[4]) const {
    out[0] = quants[r][j].x, out[1] = quants[r][j].y, out[2] = quants[r][j].z, out[3] = quants[r][j].w;
  }
};

}  // namespace orrery::kernels::cuda
