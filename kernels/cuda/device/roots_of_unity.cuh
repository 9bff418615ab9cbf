// e^(2 pi i j / n) of all j below n, worked out in float64 and stored as float32, for sums along the bins of
// a spectrum or the elements of a signal.
#pragma once

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

inline constexpr int kRootThreads = 256;

static __global__ void __launch_bounds__(kRootThreads) roots_kernel(float2* roots, int count) {
  pdl_wait();
  const int j = static_cast<int>(blockIdx.x) * kRootThreads + static_cast<int>(threadIdx.x);
  if (j >= count) return;
  double sine, cosine;
  sincospi(2.0 * j / count, &sine, &cosine);
  roots[j] = {static_cast<float>(cosine), static_cast<float>(sine)};
}

inline void fill_roots(const Launch& launch, float2* roots, int64_t count) {
  const auto blocks = static_cast<unsigned>((count + kRootThreads - 1) / kRootThreads);
  launch_kernel(launch, roots_kernel, dim3(blocks), dim3(kRootThreads), 0, roots, static_cast<int>(count));
}

}  // namespace orrery::kernels::cuda
