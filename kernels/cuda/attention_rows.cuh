// A warp's 16 rows (token, query head) between the two products of attention, as mma.m16n8 leaves scores:
// lane 4 g + c has of rows g and g + 8 the keys 8 n + 2 c and 8 n + 2 c + 1, in scores[n]
// (attention_mma.cuh).
#pragma once

#include "kernels/cuda/attention_mma.cuh"

namespace orrery::kernels::cuda {

/// Where a row's elements are in query or dst.
__device__ inline int64_t element_of(const RowTile& tile, int row, int group, int kv_head, int head_dim,
                                     int64_t stride) {
  const int token = row / group;
  return (tile.first_token + token) * stride +
         static_cast<int64_t>(kv_head * group + row - token * group) * head_dim;
}

/// Keys that a block's rows see: some row sees [begin, end); all see [all_begin, all_end), where that is a
/// range.
struct TileKeys {
  int begin, end, all_begin, all_end;

  __device__ static TileKeys of(const Attention::Problem& problem, const RowTile& tile, int tile_rows,
                                int group) {
    const int last_row = min(tile.first_row + tile_rows, tile.rows) - 1;
    const KeyRange early = visible_keys(problem, tile.first_position + tile.first_row / group, tile.length);
    const KeyRange late = visible_keys(problem, tile.first_position + last_row / group, tile.length);
    return {.begin = early.begin, .end = late.end, .all_begin = late.begin, .all_end = early.end};
  }
  __device__ bool need_mask(int first, int count) const {
    return first + count > all_end || first < all_begin;
  }
};

/// The two rows of a lane.
struct QueryRows {
  const float* query[2];  // null beyond the last row
  KeyRange seen[2];
  float scale[2];  // of their products with keys

  /// Of the warp whose first row is `first_row`.
  __device__ static QueryRows of(const Attention::Args& args, const RowTile& tile, int first_row, int group,
                                 int kv_head, float scale) {
    const auto head_dim = static_cast<int>(args.problem.head_dim);
    QueryRows rows;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + threadIdx.x % 32 / 4 + 8 * half;
      rows.query[half] = row < tile.rows
                             ? args.query + element_of(tile, row, group, kv_head, head_dim, args.query_stride)
                             : nullptr;
      rows.seen[half] = visible_keys(args.problem, tile.first_position + row / group, tile.length);
      rows.scale[half] = scale;
    }
    return rows;
  }
};

/// Scores to logits (attention_common.cuh); keys that a row does not see get none. `first`: the tile's first
/// key.
template <int kBlocks>
__device__ void finish_scores(const QueryRows& rows, int first, bool mask, float cap,
                              float (&scores)[kBlocks][4]) {
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < kBlocks; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) scores[n][i] *= rows.scale[i / 2];
  }
  if (cap > 0) {
#pragma unroll
    for (int n = 0; n < kBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[n][i] = cap * tanhf(scores[n][i]);
    }
  }
  if (!mask) return;
#pragma unroll
  for (int n = 0; n < kBlocks; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = first + 8 * n + 2 * c + i % 2;
      const KeyRange& seen = rows.seen[i / 2];
      if (key < seen.begin || key >= seen.end) scores[n][i] = -INFINITY;
    }
  }
}

/// Running maximum and sum of a lane's two rows; the sum is the lane's part.
struct Softmax {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};
};

/// Turns logits into weights; `shrink` is what the totals so far are worth.
template <int kBlocks>
__device__ void soften(float (&scores)[kBlocks][4], Softmax& softmax, float (&shrink)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float most = softmax.largest[half];
#pragma unroll
    for (int n = 0; n < kBlocks; ++n) most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    most = largest_of_quad(most);
    const float shift = shift_of(most);
    shrink[half] = power_of_two(softmax.largest[half] - shift);
    softmax.largest[half] = most;
    float part = 0;
#pragma unroll
    for (int n = 0; n < kBlocks; ++n) {
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        scores[n][i] = power_of_two(scores[n][i] - shift);
        part += scores[n][i];
      }
    }
    softmax.sum[half] = fmaf(softmax.sum[half], shrink[half], part);
  }
}

}  // namespace orrery::kernels::cuda
