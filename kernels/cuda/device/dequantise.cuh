// Elements of matrices as stored (kernels/ref/quant_blocks.h has the formats), one at a time: for kernels
// that read few rows, and for those that take any size. Blocks begin at even addresses, those of MXFP4 (17
// bytes) at any.
//   stored_at<DType>(row, k)   element k of the row that begins at `row`
//   stored_at(dtype, row, k)   the same, the type known at run time (one branch, the same for all threads)
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/dtype.h"
#include "kernels/quant_values.h"

namespace orrery::kernels::cuda {

__device__ inline float f16_at(const uint8_t* src) {
  return __half2float(__ushort_as_half(*reinterpret_cast<const unsigned short*>(src)));
}

/// An 8-bit float: the upper half of a float16, or its fields with another exponent bias.
__device__ inline float f8_e5m2_at(const uint8_t* src) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(*src << 8)));
}
__device__ inline float f8_e4m3_at(const uint8_t* src) {
  const unsigned bits = *src;
  if ((bits & 0x7fU) == 0x7fU) return __uint_as_float(0x7fc00000U | (bits & 0x80U) << 24);
  return __half2float(
             __ushort_as_half(static_cast<unsigned short>((bits & 0x80U) << 8 | (bits & 0x7fU) << 7))) *
         256.0F;
}

/// Element j of 32 in 16 bytes of nibbles.
__device__ inline int nibble_at(const uint8_t* nibbles, int j) {
  return j < 16 ? nibbles[j] & 15 : nibbles[j - 16] >> 4;
}

/// Element `at` of 256 in 64 bytes of pairs of bits (Q2_K, Q3_K).
__device__ inline int pair_at(const uint8_t* pairs, int at) {
  return (pairs[at / 128 * 32 + at % 32] >> (at % 128 / 32 * 2)) & 3;
}

/// The 6-bit scale of sub-block b of a Q3_K block, 32 too large; `packed` are its 12 bytes.
__device__ inline int scale_q3_k(const uint8_t* packed, int b) {
  return ((packed[b % 8] >> (4 * (b / 8))) & 15) | ((packed[8 + b % 4] >> (2 * (b / 4))) & 3) << 4;
}

/// The 6-bit scale and min of sub-block b of a Q4_K or Q5_K block; `packed` are its 12 bytes.
struct ScaleMinQ4K {
  int scale, min;
};
__device__ inline ScaleMinQ4K scale_min_q4_k(const uint8_t* packed, int b) {
  if (b < 4) return {packed[b] & 63, packed[b + 4] & 63};
  return {(packed[b + 4] & 15) | ((packed[b - 4] >> 6) << 4), (packed[b + 4] >> 4) | ((packed[b] >> 6) << 4)};
}

template <DType dtype>
constexpr bool kWhole = is_integer(dtype) || dtype == DType::boolean;

template <DType dtype>
__device__ inline float stored_at(const uint8_t* row, int64_t k) {
  if constexpr (dtype == DType::f32) {
    return reinterpret_cast<const float*>(row)[k];
  } else if constexpr (dtype == DType::f16) {
    return __half2float(reinterpret_cast<const __half*>(row)[k]);
  } else if constexpr (dtype == DType::bf16) {
    return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row)[k]);
  } else if constexpr (kWhole<dtype>) {
    return static_cast<float>(reinterpret_cast<const Element<dtype>*>(row)[k]);
  } else if constexpr (dtype == DType::q4_0 || dtype == DType::q4_1) {
    constexpr int head = dtype == DType::q4_0 ? 2 : 4;
    const uint8_t* block = row + (k / 32) * (head + 16);
    const int j = static_cast<int>(k % 32);
    const int q = nibble_at(block + head, j);
    if constexpr (dtype == DType::q4_0) return f16_at(block) * static_cast<float>(q - 8);
    return fmaf(f16_at(block), static_cast<float>(q), f16_at(block + 2));
  } else if constexpr (dtype == DType::q8_0) {
    const uint8_t* block = row + (k / 32) * 34;
    return f16_at(block) * static_cast<float>(static_cast<int8_t>(block[2 + k % 32]));
  } else if constexpr (dtype == DType::q4_k) {
    const uint8_t* block = row + (k / 256) * 144;
    const int at = static_cast<int>(k % 256);
    const int b = at / 32;
    const ScaleMinQ4K sm = scale_min_q4_k(block + 4, b);
    const int byte = block[16 + 32 * (b / 2) + at % 32];
    const int q = b % 2 == 0 ? byte & 15 : byte >> 4;
    return f16_at(block) * static_cast<float>(sm.scale) * static_cast<float>(q) -
           f16_at(block + 2) * static_cast<float>(sm.min);
  } else if constexpr (dtype == DType::f8_e4m3) {
    return f8_e4m3_at(row + k);
  } else if constexpr (dtype == DType::f8_e5m2) {
    return f8_e5m2_at(row + k);
  } else if constexpr (dtype == DType::q5_0 || dtype == DType::q5_1) {
    constexpr int head = dtype == DType::q5_0 ? 2 : 4;
    const uint8_t* block = row + (k / 32) * (head + 20);
    const int j = static_cast<int>(k % 32);
    const int q = nibble_at(block + head + 4, j) | ((block[head + j / 8] >> (j % 8)) & 1) << 4;
    if constexpr (dtype == DType::q5_0) return f16_at(block) * static_cast<float>(q - 16);
    return fmaf(f16_at(block), static_cast<float>(q), f16_at(block + 2));
  } else if constexpr (dtype == DType::iq4_nl) {
    const uint8_t* block = row + (k / 32) * 18;
    return f16_at(block) * static_cast<float>(iq4_value(nibble_at(block + 2, static_cast<int>(k % 32))));
  } else if constexpr (dtype == DType::mxfp4) {
    const uint8_t* block = row + (k / 32) * 17;
    return __uint_as_float(mxfp4_scale_bits(block[0])) *
           static_cast<float>(mxfp4_value(nibble_at(block + 1, static_cast<int>(k % 32))));
  } else if constexpr (dtype == DType::q2_k) {
    const uint8_t* block = row + (k / 256) * 84;
    const int at = static_cast<int>(k % 256);
    const int scale = block[at / 16];
    return f16_at(block + 80) * static_cast<float>(scale & 15) * static_cast<float>(pair_at(block + 16, at)) -
           f16_at(block + 82) * static_cast<float>(scale >> 4);
  } else if constexpr (dtype == DType::q3_k) {
    const uint8_t* block = row + (k / 256) * 110;
    const int at = static_cast<int>(k % 256);
    const int q = pair_at(block + 32, at) | ((block[at % 32] >> (at / 32)) & 1) << 2;
    return f16_at(block + 108) * static_cast<float>(scale_q3_k(block + 96, at / 16) - 32) *
           static_cast<float>(q - 4);
  } else if constexpr (dtype == DType::q5_k) {
    const uint8_t* block = row + (k / 256) * 176;
    const int at = static_cast<int>(k % 256);
    const int b = at / 32;
    const ScaleMinQ4K sm = scale_min_q4_k(block + 4, b);
    const int nibble = (block[48 + 32 * (b / 2) + at % 32] >> (4 * (b % 2))) & 15;
    const int q = nibble | ((block[16 + at % 32] >> b) & 1) << 4;
    return f16_at(block) * static_cast<float>(sm.scale) * static_cast<float>(q) -
           f16_at(block + 2) * static_cast<float>(sm.min);
  } else if constexpr (dtype == DType::iq4_xs) {
    const uint8_t* block = row + (k / 256) * 136;
    const int at = static_cast<int>(k % 256);
    const int b = at / 32;
    const int scale = ((block[4 + b / 2] >> (4 * (b % 2))) & 15) | ((block[2 + b / 4] >> (2 * (b % 4))) & 3)
                                                                       << 4;
    return f16_at(block) * static_cast<float>(scale - 32) *
           static_cast<float>(iq4_value(nibble_at(block + 8 + 16 * b, at % 32)));
  } else {
    static_assert(dtype == DType::q6_k);
    const uint8_t* block = row + (k / 256) * 210;
    const int at = static_cast<int>(k % 256);
    const int half = at / 128, g = at % 128 / 32, l = at % 32;
    const int nibble = (block[64 * half + l + 32 * (g % 2)] >> (4 * (g / 2))) & 15;
    const int q = (nibble | (((block[128 + 32 * half + l] >> (2 * g)) & 3) << 4)) - 32;
    const int scale = static_cast<int8_t>(block[192 + 8 * half + 2 * g + l / 16]);
    return f16_at(block + 208) * static_cast<float>(scale) * static_cast<float>(q);
  }
}

__device__ inline float stored_at(DType dtype, const uint8_t* row, int64_t k) {
  return with_dtype(dtype, [&](auto type) { return stored_at<decltype(type)::value>(row, k); });
}

}  // namespace orrery::kernels::cuda
