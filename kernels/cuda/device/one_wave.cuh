// The trigger of programmatic dependent launch where it pays (launch.h): a grid that leaves the card room.
#pragma once

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

// Multiprocessors of the largest card of the architecture that is compiled for.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 1000
constexpr unsigned kMultiprocessors = 132;
#elif __CUDA_ARCH__ < 1200
constexpr unsigned kMultiprocessors = 148;
#else
constexpr unsigned kMultiprocessors = 170;
#endif
constexpr unsigned kOneWave = 2 * kMultiprocessors;  // blocks of little shared memory

__device__ inline void pdl_trigger_in_one_wave() {
  if (gridDim.x * gridDim.y <= kOneWave) pdl_trigger();
}

}  // namespace orrery::kernels::cuda
