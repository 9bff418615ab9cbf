// What the kernels of Linear share on the device: activation functions, and the weights of one lane of one
// group of a packed row as float32 (layout: kernels/cuda/linear_packing.h).
#pragma once

#include "kernels/cuda/device/activation.cuh"
#include "kernels/cuda/device/dequantise.cuh"
#include "kernels/cuda/linear_packing.h"

namespace orrery::kernels::cuda {

__device__ inline float activate(Epilogue epilogue, float x) {
  return kernels::activate<Math>(activation_of(epilogue), x);
}

/// The column, inside its group, of element e (0..3) of instruction i (0, 1) of block j (0..3) for lane t.
__device__ inline int column_of(int t, int j, int i, int e) { return 32 * j + 16 * i + 4 * t + e; }

__device__ inline int nibble_of(uint32_t word, int i, int e) {
  return static_cast<int>(word >> (4 * (2 * i + e / 2) + 16 * (e % 2))) & 15;
}

/// The fifth bit of element e of instruction i of block j, in its place above a nibble.
__device__ inline int fifth_of(uint32_t word, int j, int i, int e) {
  return static_cast<int>(word >> (fifth_bit(j, 2 * i + e / 2) + 16 * (e % 2)) & 1U) << 4;
}

/// d s q - m n of a format with 6-bit scales and mins: q of block j (0..3) of a group.
__device__ inline float with_mins(const uint8_t* head, int64_t group, int j, int q) {
  const ScaleMinQ4K sm = scale_min_q4_k(head + 4, static_cast<int>(group % 2) * 4 + j);
  return f16_at(head) * static_cast<float>(sm.scale) * static_cast<float>(q) -
         f16_at(head + 2) * static_cast<float>(sm.min);
}

/// Whether a packed type has fifth bits.
template <DType dtype>
constexpr bool kFifthBits = lanes_of(dtype).high == 16;

/// The weight of code q, which is element e of instruction i of block j of lane t.
template <DType dtype>
__device__ inline float weight_of(const uint8_t* row, const PackedRow& at, int64_t group, int t, int j, int i,
                                  int e, int q) {
  const uint8_t* scales = row + at.scales + group * lanes_of(dtype).scales;
  const uint8_t* deltas = row + at.deltas + group / 2 * lanes_of(dtype).deltas;
  if constexpr (dtype == DType::q4_0) {
    return f16_at(scales + 2 * j) * static_cast<float>(q - 8);
  } else if constexpr (dtype == DType::q5_0) {
    return f16_at(scales + 2 * j) * static_cast<float>(q - 16);
  } else if constexpr (dtype == DType::q4_1 || dtype == DType::q5_1) {
    return fmaf(f16_at(scales + 4 * j), static_cast<float>(q), f16_at(scales + 4 * j + 2));
  } else if constexpr (dtype == DType::iq4_nl) {
    return f16_at(scales + 2 * j) * static_cast<float>(iq4_value(q));
  } else if constexpr (dtype == DType::mxfp4) {
    return __uint_as_float(mxfp4_scale_bits(scales[j])) * static_cast<float>(mxfp4_value(q));
  } else if constexpr (dtype == DType::q4_k || dtype == DType::q5_k) {
    return with_mins(row + at.scales + group / 2 * 16, group, j, q);
  } else if constexpr (dtype == DType::iq4_xs) {
    const int scale = static_cast<int8_t>(scales[j]);
    return f16_at(deltas) * static_cast<float>(scale) * static_cast<float>(iq4_value(q));
  } else if constexpr (dtype == DType::q2_k) {
    const int scale = scales[2 * j + i];
    return f16_at(deltas) * static_cast<float>(scale & 15) * static_cast<float>(q) -
           f16_at(deltas + 2) * static_cast<float>(scale >> 4);
  } else if constexpr (dtype == DType::q3_k) {
    const int scale = static_cast<int8_t>(scales[2 * j + i]);
    return f16_at(deltas) * static_cast<float>(scale) * static_cast<float>(q - 4);
  } else {
    static_assert(dtype == DType::q6_k);
    const uint32_t high =
        *reinterpret_cast<const uint32_t*>(row + at.high + group * 32 + 8 * t + 4 * (j / 2));
    const int bits = static_cast<int>(high >> (high_bit(j % 2, 2 * i + e / 2) + 16 * (e % 2))) & 3;
    const int scale = static_cast<int8_t>(scales[2 * j + i]);
    return f16_at(deltas) * static_cast<float>(scale) * static_cast<float>((q | (bits << 4)) - 32);
  }
}

/// w[8j + 4i + e]: the 32 weights of lane t (0..3) of group `group` of the packed row at `row`.
template <DType dtype>
__device__ inline void lane_weights(const uint8_t* row, const PackedRow& at, int64_t group, int t, float* w) {
  if constexpr (dtype == DType::q8_0) {
    const auto* quants = reinterpret_cast<const int8_t*>(row + group * 128 + 16 * t);
#pragma unroll
    for (int n = 0; n < 32; ++n) {
      const float d = f16_at(row + at.scales + group * 8 + 2 * (n / 8));
      w[n] = d * static_cast<float>(quants[n / 16 * 64 + n % 16]);
    }
  } else {
    const auto* words = reinterpret_cast<const uint32_t*>(row + group * 64 + 16 * t);
    uint32_t fifth = 0;
    if constexpr (kFifthBits<dtype>)
      fifth = *reinterpret_cast<const uint32_t*>(row + at.high + group * 16 + 4 * t);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint32_t word = words[j];
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        const int i = n / 4, e = n % 4;
        int q = nibble_of(word, i, e);
        if constexpr (kFifthBits<dtype>) q |= fifth_of(fifth, j, i, e);
        w[8 * j + n] = weight_of<dtype>(row, at, group, t, j, i, e, q);
      }
    }
  }
}

}  // namespace orrery::kernels::cuda
