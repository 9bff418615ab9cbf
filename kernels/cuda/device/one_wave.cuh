// The trigger of programmatic dependent launch where it pays (launch.h): a grid that leaves the card room.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {

#ifdef __CUDA_ARCH__
constexpr int kMultiprocessors = config_of(__CUDA_ARCH__ / 10).multiprocessors;
#else
constexpr int kMultiprocessors = 0;  // the host does not ask
#endif
constexpr unsigned kOneWave = 2 * kMultiprocessors;  // blocks of little shared memory

__device__ inline void pdl_trigger_in_one_wave() {
  if (gridDim.x * gridDim.y <= kOneWave) pdl_trigger();
}

}  // namespace orrery::kernels::cuda
