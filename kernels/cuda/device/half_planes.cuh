// Float32 activations as sums of 16-bit numbers, for products on the tensor cores.
//   scale_exponent, power_of_two   what brings a run's largest magnitude to 2^13 to 2^14, so that f16 neither
//                                  overflows nor loses what counts
//   load_four                      four numbers of a row that ends
//   split_off                      four numbers, rounded; what is lost stays for the next plane
//   store_block_sum                sum / kSumScale of 32 scaled columns as two f16, for formats with mins
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace orrery::kernels::cuda {

/// The exponent of the power of two that brings `most` to between 2^13 and 2^14.
__device__ inline int scale_exponent(float most) {
  if (!(most > 0.0F)) return 0;
  const int exponent = static_cast<int>(__float_as_uint(most) >> 23) - 127;  // of a subnormal: -127
  return min(max(13 - exponent, -114), 126);
}

/// 2^exponent, -126 to 127.
__device__ inline float power_of_two(int exponent) {
  return __uint_as_float(static_cast<uint32_t>(exponent + 127) << 23);
}

/// Four numbers from `src` on, of which `count` are there; zero behind them. `wide`: src is 16-byte aligned.
__device__ inline void load_four(const float* src, int count, bool wide, float (&x)[4]) {
  if (wide && count >= 4) {
    *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(src);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = i < count ? src[i] : 0.0F;
}

/// Two numbers, rounded, side by side; they become what is left of them.
__device__ inline uint32_t take_pair(__half*, float& low, float& high) {
  const __half2 pair = __floats2half2_rn(low, high);
  low -= __low2float(pair);
  high -= __high2float(pair);
  return *reinterpret_cast<const uint32_t*>(&pair);
}
__device__ inline uint32_t take_pair(__nv_bfloat16*, float& low, float& high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  low -= __low2float(pair);
  high -= __high2float(pair);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

/// Four values to four numbers of 16 bits at `at`, 8-byte aligned; what is lost stays in x.
template <class T>
__device__ inline void split_off(float (&x)[4], uint8_t* at) {
  T* const type = nullptr;
  const uint32_t low = take_pair(type, x[0], x[1]);
  *reinterpret_cast<uint2*>(at) = make_uint2(low, take_pair(type, x[2], x[3]));
}

constexpr float kSumScale = 64.0F;  // sums of 32 stay below 2^13

/// The sum of block 0 to 3 of a group: `sums` holds the four sums' upper parts, then their lower ones.
__device__ inline void store_block_sum(__half* sums, int block, float sum) {
  const __half upper = __float2half_rn(sum * (1.0F / kSumScale));
  sums[block] = upper;
  sums[4 + block] = __float2half_rn(sum * (1.0F / kSumScale) - __half2float(upper));
}

}  // namespace orrery::kernels::cuda
