// Elements of matrices as stored (kernels/ref/quant.cpp has the formats), one at a time: for kernels that
// read few rows, and for those that take any size. Blocks of 18, 20, 34, 144 and 210 bytes begin at even
// addresses.
//   stored_at<DType>(row, k)   element k of the row that begins at `row`
//   stored_at(dtype, row, k)   the same, the type known at run time (one branch, the same for all threads)
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/dtype.h"

namespace orrery::kernels::cuda {

__device__ inline float f16_at(const uint8_t* src) {
  return __half2float(__ushort_as_half(*reinterpret_cast<const unsigned short*>(src)));
}

/// The 6-bit scale and min of sub-block b of a Q4_K block; `packed` are its 12 bytes.
struct ScaleMinQ4K {
  int scale, min;
};
__device__ inline ScaleMinQ4K scale_min_q4_k(const uint8_t* packed, int b) {
  if (b < 4) return {packed[b] & 63, packed[b + 4] & 63};
  return {(packed[b + 4] & 15) | ((packed[b - 4] >> 6) << 4), (packed[b + 4] >> 4) | ((packed[b] >> 6) << 4)};
}

template <DType dtype>
__device__ inline float stored_at(const uint8_t* row, int64_t k) {
  if constexpr (dtype == DType::f32) {
    return reinterpret_cast<const float*>(row)[k];
  } else if constexpr (dtype == DType::f16) {
    return __half2float(reinterpret_cast<const __half*>(row)[k]);
  } else if constexpr (dtype == DType::bf16) {
    return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row)[k]);
  } else if constexpr (dtype == DType::i8) {
    return static_cast<float>(reinterpret_cast<const int8_t*>(row)[k]);
  } else if constexpr (dtype == DType::i32) {
    return static_cast<float>(reinterpret_cast<const int32_t*>(row)[k]);
  } else if constexpr (dtype == DType::i64) {
    return static_cast<float>(reinterpret_cast<const int64_t*>(row)[k]);
  } else if constexpr (dtype == DType::q4_0 || dtype == DType::q4_1) {
    constexpr int head = dtype == DType::q4_0 ? 2 : 4;
    const uint8_t* block = row + (k / 32) * (head + 16);
    const int j = static_cast<int>(k % 32);
    const int q = j < 16 ? block[head + j] & 15 : block[head + j - 16] >> 4;
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
  switch (dtype) {
    case DType::f32:
      return stored_at<DType::f32>(row, k);
    case DType::f16:
      return stored_at<DType::f16>(row, k);
    case DType::bf16:
      return stored_at<DType::bf16>(row, k);
    case DType::i8:
      return stored_at<DType::i8>(row, k);
    case DType::i32:
      return stored_at<DType::i32>(row, k);
    case DType::i64:
      return stored_at<DType::i64>(row, k);
    case DType::q4_0:
      return stored_at<DType::q4_0>(row, k);
    case DType::q4_1:
      return stored_at<DType::q4_1>(row, k);
    case DType::q8_0:
      return stored_at<DType::q8_0>(row, k);
    case DType::q4_k:
      return stored_at<DType::q4_k>(row, k);
    case DType::q6_k:
      return stored_at<DType::q6_k>(row, k);
  }
  return 0.0F;
}

}  // namespace orrery::kernels::cuda
