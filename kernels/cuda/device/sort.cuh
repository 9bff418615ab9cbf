// Codes in ascending order: a few by counting what comes before each, many by bitonic networks, the same
// exchanges whatever the codes are. Only equal codes could be told apart by the order of threads, and those
// are alike.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/block_reduce.cuh"

namespace orrery::kernels::cuda {

/// Of few codes, some lanes to each: one counts those before it among every so manieth of all. That takes two
/// barriers, where a network of 128 has 28.
template <class Code>
__device__ inline void sort_by_counting(Code* codes, int count, int threads) {
  int lanes = kWarp;
  while (count * lanes > threads) lanes /= 2;
  const auto thread = static_cast<int>(threadIdx.x);
  const int mine = thread / lanes, lane = thread % lanes;
  __syncthreads();
  const Code code = mine < count ? codes[mine] : Code{};
  int before = 0;
  for (int i = lane; i < count; i += lanes) {
    const Code other = codes[i];
    before += other < code || (other == code && i < mine) ? 1 : 0;
  }
  for (int step = lanes / 2; step > 0; step /= 2) before += __shfl_xor_sync(kWholeWarp, before, step);
  __syncthreads();
  if (mine < count && lane == 0) codes[before] = code;
  __syncthreads();
}

/// codes[0, count) in memory that has room for the next power of two, which is written over. By all threads
/// of the block, of which there are `threads`, a thread owning two codes of every exchange; codes are in
/// place before it and after it.
template <class Code>
__device__ inline void block_sort(Code* codes, int count, int threads) {
  if (2 * count <= threads) return sort_by_counting(codes, count, threads);
  int size = 1;
  while (size < count) size *= 2;
  for (int i = count + static_cast<int>(threadIdx.x); i < size; i += threads) codes[i] = ~Code{0};
  __syncthreads();
  for (int run = 2; run <= size; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += threads) {
        const int low = 2 * i - (i & (step - 1));
        const int high = low + step;
        const Code a = codes[low];
        const Code b = codes[high];
        if ((a > b) == ((low & run) == 0)) {
          codes[low] = b;
          codes[high] = a;
        }
      }
      __syncthreads();
    }
  }
}

__device__ inline uint64_t shuffle_xor(uint64_t code, int lanes) {
  return __shfl_xor_sync(kWholeWarp, code, lanes);
}
__device__ inline unsigned __int128 shuffle_xor(unsigned __int128 code, int lanes) {
  const uint64_t low = shuffle_xor(static_cast<uint64_t>(code), lanes);
  return static_cast<unsigned __int128>(shuffle_xor(static_cast<uint64_t>(code >> 64), lanes)) << 64 | low;
}

/// A code of each lane, into the order of the lanes. By all lanes of the warp.
template <class Code>
__device__ inline Code warp_sort(Code code) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int run = 2; run <= kWarp; run *= 2) {
#pragma unroll
    for (int step = run / 2; step > 0; step /= 2) {
      const Code other = shuffle_xor(code, step);
      const bool keeps_less = ((lane & step) == 0) == ((lane & run) == 0);
      if (keeps_less == (other < code)) code = other;
    }
  }
  return code;
}

}  // namespace orrery::kernels::cuda
