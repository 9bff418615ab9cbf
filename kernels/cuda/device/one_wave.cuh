// The trigger of programmatic dependent launch where it pays (launch.h): a grid that leaves the card room.
#pragma once

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

constexpr unsigned kOneWave = 2 * 132;  // blocks of little shared memory

__device__ inline void pdl_trigger_in_one_wave() {
  if (gridDim.x * gridDim.y <= kOneWave) pdl_trigger();
}

}  // namespace orrery::kernels::cuda
