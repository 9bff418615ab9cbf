// Weights in the registers of mma.m16n8k16: lane (g, t) of a warp holds, of a group of 128 columns, what it
// needs of rows g and g + 8 (kernels/cuda/linear_packing.h says which columns). Lanes<dtype>:
//   load      reads both rows' parts: 16-byte loads of quants that pass the first cache by
//   pairs     block j of one row as four pairs of f16: quants as integers, exactly
//   scale     what block j (Q6_K: its half i) is multiplied with. kFolded: pairs() has multiplied with the
//             block's integer scale, and the group is multiplied with factor()
//   min_pair  the mins of blocks 0 and 1, or 2 and 3 (upper), as f16; times min_factor()
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

/// Eight nibbles to four pairs of q - offset. The halves: `even` is -(1024 + offset), `odd` is -(64 +
/// offset).
__device__ inline void nibble_pairs(uint32_t word, uint32_t even, uint32_t odd, uint32_t (&pairs)[4]) {
  const uint32_t shifted = word >> 8;
  pairs[0] = add_pair((word & 0x000f000fU) | k1024, even);
  pairs[1] = fma_pair((word & 0x00f000f0U) | k1024, kSixteenth, odd);
  pairs[2] = add_pair((shifted & 0x000f000fU) | k1024, even);
  pairs[3] = fma_pair((shifted & 0x00f000f0U) | k1024, kSixteenth, odd);
}

/// An unsigned byte of `word` as float, exactly.
__device__ inline float byte_float(uint32_t word, int byte) {
  return __uint_as_float(__byte_perm(word, 0x4b000000U, 0x7440U + static_cast<uint32_t>(byte))) - 8388608.0F;
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

template <DType dtype>
struct Lanes;

/// Where a warp reads: two rows of one matrix.
struct RowPair {
  const uint8_t* row[2];
};

template <>
struct Lanes<DType::q4_0> {
  static constexpr bool kMins = false, kHalves = false, kFolded = false;
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
  static constexpr bool kMins = true, kHalves = false, kFolded = false;
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
  static constexpr bool kMins = false, kHalves = false, kFolded = false;
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
  static constexpr bool kMins = true, kHalves = false, kFolded = true;
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
  /// Quants times their block's integer scale, at most 945: (1024 + q) s - 1024 s, rounded once, is exact.
  __device__ void pairs(int r, int j, int group, uint32_t (&out)[4]) const {
    const uint32_t scale = byte_pair(scale_bytes(r, group), j, j);
    const uint32_t sixteenth = mul_pair(scale, kSixteenth);
    const uint32_t even = mul_pair(scale, pair_of(0xe400)), odd = mul_pair(scale, pair_of(0xd400));
    const uint32_t word = word_of(quants[r], j), shifted = word >> 8;
    out[0] = fma_pair((word & 0x000f000fU) | k1024, scale, even);
    out[1] = fma_pair((word & 0x00f000f0U) | k1024, sixteenth, odd);
    out[2] = fma_pair((shifted & 0x000f000fU) | k1024, scale, even);
    out[3] = fma_pair((shifted & 0x00f000f0U) | k1024, sixteenth, odd);
  }
  __device__ float factor(int r) const { return half_of(heads[r].x, 0); }
  __device__ uint32_t min_pair(int r, int upper, int group) const {
    return byte_pair(min_bytes(r, group), 2 * upper, 2 * upper + 1);
  }
  __device__ float min_factor(int r) const { return -half_of(heads[r].x, 1); }
};

template <>
struct Lanes<DType::q6_k> {
  static constexpr bool kMins = false, kHalves = true, kFolded = false;
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
  /// Scales are i8: a byte with its sign bit turned is 128 larger.
  __device__ float scale(int r, int j, int i) const {
    const uint32_t bytes = (j < 2 ? scales[r].x : scales[r].y) ^ 0x80808080U;
    return __half2float(__ushort_as_half(deltas[r])) * (byte_float(bytes, 2 * (j % 2) + i) - 128.0F);
  }
};

/// f16 and bf16 as stored: 8 columns a lane and block, in their own order.
struct StoredLanes {
  static constexpr bool kMins = false, kHalves = false, kFolded = false;
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
