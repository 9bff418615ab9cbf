// What an element of out is multiplied by.
#pragma once

#include "kernels/cuda/device/element.cuh"
#include "kernels/fastmax.h"

namespace orrery::kernels::cuda::fastmax {

/// Of column `col` of query `row` of all (batch, heads, queries).
__device__ inline float noise_of(const Fastmax::Args& args, int64_t row, int64_t col) {
  if (args.problem.dropping != Fastmax::Dropping::noise) return 1.0F;
  const float drawn = args.noise != nullptr ? load_element<float>(args.problem.dtype, args.noise,
                                                                  row * args.problem.head_dim + col)
                                            : normal_noise<float>(args.seed, row, col);
  return 1.0F + static_cast<float>(args.rate) * drawn;
}

}  // namespace orrery::kernels::cuda::fastmax
