// The softmax of attention over keys that come tile by tile, on scores as tensor cores leave them: a lane 4 g
// + c has keys 8 n + 2 c and 8 n + 2 c + 1 of rows g and g + 8 of its warp's 16, in scores[n].
#pragma once

#include "kernels/cuda/flash_attention/scores.cuh"

namespace orrery::kernels::cuda::flash {

/// Running maximum and sum of a lane's two rows of 16; the sum is the lane's part.
struct RunningSum {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};
};

__device__ inline float over_quad_largest(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0U, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0U, x, 2));
}
__device__ inline float over_quad_sum(float x) {
  x += __shfl_xor_sync(~0U, x, 1);
  return x + __shfl_xor_sync(~0U, x, 2);
}

/// A maximum may be exceeded by so many powers of two before totals are scaled down: weights up to 2^8 are as
/// exact, also in f16, and later tiles of keys rarely need more.
constexpr float kSlack = 8.0F;

/// Turns scores, which still want `factor`, into weights; `shrink` is what the totals so far are worth. Gives
/// whether that is not 1 for some row of the warp.
template <int kBlocks>
__device__ inline bool soften(float (&scores)[kBlocks][4], float factor, RunningSum& running,
                              float (&shrink)[2]) {
  bool shrinks = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float most = running.largest[half];
#pragma unroll
    for (int n = 0; n < kBlocks; ++n) most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    most = over_quad_largest(most);
    if ((most - running.largest[half]) * factor <= kSlack)
      most = running.largest[half];
    else
      shrinks = true;  // also where both are -infinity
    const float shift = shift_of(most) * factor;
    shrink[half] = fast_exp2(fmaf(running.largest[half], factor, -shift));
    running.largest[half] = most;
    float part = 0;
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        scores[n][i] = fast_exp2(fmaf(scores[n][i], factor, -shift));
        part += scores[n][i];
      }
    running.sum[half] = fmaf(running.sum[half], shrink[half], part);
  }
  return __any_sync(~0U, shrinks);
}

/// Totals of 16 rows times what they are worth.
template <int kBlocks>
__device__ inline void shrink_totals(const float (&shrink)[2], float (&totals)[kBlocks][4]) {
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) totals[n][i] *= shrink[i / 2];
}

/// The first or the second of a lane's two rows of 16.
__device__ inline int lane_row(int half) { return static_cast<int>(threadIdx.x) % 32 / 4 + 8 * half; }

/// A lane's rows of 16 queries, and what they see.
struct LaneRows {
  int query[2], begin[2], end[2];

  /// Queries that follow each other.
  __device__ LaneRows(const Band& band, int first)
      : LaneRows(band, {first + lane_row(0), first + lane_row(1)}) {}
  __device__ LaneRows(const Band& band, const int (&of_rows)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      query[half] = of_rows[half];
      begin[half] = band.first_key(query[half]);
      end[half] = query[half] < band.queries ? band.behind_key(query[half]) : 0;
    }
  }
};

/// Keys that a row does not see get a score of -infinity. `first`: the tile's first key.
template <int kBlocks>
__device__ inline void hide_unseen(const LaneRows& rows, int first, float (&scores)[kBlocks][4]) {
  const int c = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = first + 8 * n + 2 * c + i % 2;
      if (key < rows.begin[i / 2] || key >= rows.end[i / 2]) scores[n][i] = -INFINITY;
    }
}

/// What a row's totals are multiplied by, 0 where it saw no key; by all four lanes that have it. `sum`: the
/// lane's part. One of them writes log_sum_exp, at `index`.
__device__ inline float finish_row(const FlashAttention::Args& args, const Band& band, int64_t index,
                                   int query, float largest, float sum) {
  sum = over_quad_sum(sum);
  if (query >= band.queries) sum = 0;
  if (threadIdx.x % 4 == 0 && query < args.queries && args.log_sum_exp != nullptr)
    args.log_sum_exp[index] = log_of_sum(largest, sum);
  return sum == 0 ? 0.0F : (args.problem.drops ? args.dropout.scale : 1.0F) / sum;
}

}  // namespace orrery::kernels::cuda::flash
