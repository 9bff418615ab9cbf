// Tensor-core products of f32 rows with f16 or bf16 keys and values, to the precision of f32: the f32 factor
// is split into terms of the other's type (2 of f16, 3 of bf16), each product is exact, and sums are f32.
// The tensor core truncates sums, so chains are kept short: what runs over many keys is added in f32 outside.
// device/tensor_core.cuh has what a lane holds of the operands.
#pragma once

#include "kernels/cuda/attention_common.cuh"
#include "kernels/cuda/device/tensor_core.cuh"

namespace orrery::kernels::cuda {

template <DType kKv>
struct Mma;

template <>
struct Mma<DType::f16> {
  static constexpr int terms = 2;
  static __device__ void multiply(float (&c)[4], const uint4& a, uint32_t b0, uint32_t b1) {
    multiply_halves<DType::f16>(c, a, b0, b1);
  }
  /// The two numbers, rounded; they become what is left of them.
  static __device__ uint32_t take(float& low, float& high) {
    const __half2 pair = __floats2half2_rn(low, high);
    low -= __low2float(pair);
    high -= __high2float(pair);
    return *reinterpret_cast<const uint32_t*>(&pair);
  }
};

template <>
struct Mma<DType::bf16> {
  static constexpr int terms = 3;
  static __device__ void multiply(float (&c)[4], const uint4& a, uint32_t b0, uint32_t b1) {
    multiply_halves<DType::bf16>(c, a, b0, b1);
  }
  static __device__ uint32_t take(float& low, float& high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    low -= __low2float(pair);
    high -= __high2float(pair);
    return *reinterpret_cast<const uint32_t*>(&pair);
  }
};

/// A power of two that brings the largest magnitude of a row into [1, 2), where f16 terms are precise, and
/// what takes it back.
struct RowScale {
  float to, back;

  static __device__ RowScale of(float largest) {
    const uint32_t exponent = min(__float_as_uint(largest) & 0x7f800000U, 253U << 23);
    if (exponent == 0) return {1.0F, 1.0F};
    return {__uint_as_float((254U << 23) - exponent), __uint_as_float(exponent)};
  }
};

/// One element's maximum of a softmax, as what to subtract: rows that saw no key yet subtract nothing.
__device__ inline float shift_of(float largest) { return largest == -INFINITY ? 0.0F : largest; }

/// 2^x, to the two last bits.
__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline float largest_of_quad(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0U, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0U, x, 2));
}

__device__ inline float sum_of_quad(float x) {
  x += __shfl_xor_sync(~0U, x, 1);
  return x + __shfl_xor_sync(~0U, x, 2);
}

}  // namespace orrery::kernels::cuda
