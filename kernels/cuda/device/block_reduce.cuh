// Sums and maxima over a block, always in the same order, so that the same problem gives the same bits.
// A warp reduces by butterflies, then every warp reduces the warps' results the same way.
// Preconditions: all threads of the block call it; blockDim.x is a multiple of 32 and at most 1024, with
// y = z = 1.
#pragma once

#include <cuda_runtime.h>

namespace orrery::kernels::cuda {

constexpr unsigned kWholeWarp = 0xFFFFFFFFU;
constexpr int kWarp = 32;

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// NaN gives way to a number.
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class T, class Combine>
__device__ inline T warp_reduce(T value, Combine combine) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(kWholeWarp, value, step));
  return value;
}

/// The result, in every thread. `shared` holds 32 values; it may be used anew after the call.
template <class T, class Combine>
__device__ inline T block_reduce(T value, T identity, Combine combine, T* shared) {
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  value = warp_reduce(value, combine);
  if (warps == 1) return value;
  if (lane == 0) shared[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = warp_reduce(lane < warps ? shared[lane] : identity, combine);
  __syncthreads();
  return value;
}

/// The sum of the values of the threads before this one. `shared` holds 32 values; it may be used anew after
/// the call.
template <class T>
__device__ inline T block_sum_before(T value, T* shared) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  T sum = value;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const T below = __shfl_up_sync(kWholeWarp, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == kWarp - 1) shared[warp] = sum;
  __syncthreads();
  T before = sum - value;
  for (int w = 0; w < warp; ++w) before += shared[w];
  __syncthreads();
  return before;
}

}  // namespace orrery::kernels::cuda
