// Products of weights in lanes (device/linear_lanes.cuh) on the tensor cores, and what is done with their
// results. m16n8k16, lane 4 g + t: A has rows g and g + 8, B and the results have token g, and 2 t, 2 t + 1.
#pragma once

#include "kernels/cuda/device/half_planes.cuh"
#include "kernels/cuda/device/linear_lanes.cuh"

namespace orrery::kernels::cuda {

__device__ inline void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// total += scales (rows g, g + 8) * c
__device__ inline void add_scaled(float (&total)[4], float first, float second, const float (&c)[4]) {
  total[0] = fmaf(first, c[0], total[0]);
  total[1] = fmaf(first, c[1], total[1]);
  total[2] = fmaf(second, c[2], total[2]);
  total[3] = fmaf(second, c[3], total[3]);
}

/// The mins of a group's four blocks times the sums of src (store_block_sum): columns 0 to 3 of one product
/// are the sums' upper parts, 4 to 7 their lower ones. `sums`: word t of token g.
template <class L>
__device__ inline void add_mins(const L& weights, int group, uint32_t sums, float (&total)[4]) {
  const int upper = static_cast<int>(threadIdx.x) % 2;
  const uint32_t a[4] = {weights.min_pair(0, upper, group), weights.min_pair(1, upper, group), 0, 0};
  float c[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  mma_f16(c, a, sums, 0);
  add_scaled(total, weights.min_factor(0) * kSumScale, weights.min_factor(1) * kSumScale, c);
}

}  // namespace orrery::kernels::cuda
