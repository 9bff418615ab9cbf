// cuda.flash_mma, forward: attention over tensors of f16 or bf16 on the tensor cores (flash_attention.h;
// FlashAttention-2, Dao 2023, arXiv 2307.08691), products exact, weights rounded to the operands' type.
//   A block of 4 warps owns 128 or 64 queries of one batch and head, a warp 32 or 16 of them, and walks over
//   the keys that they see in tiles of 64 that begin at multiples of 64; a query's result depends on its keys
//   alone. Queries lie in shared memory, scores, weights and totals in registers: lane (g, c) has rows g and
//   g + 8 of each 16. Keys of the next tile are on their way while weights are multiplied by values, values
//   while queries are multiplied by keys (cp.async). Masks are looked at only in tiles that have an edge.
//   Scores are multiplied by log2(e) and their factor inside the exponential: one fused multiply-add each.
//   The last tiles of a causal head, which have most keys, begin first.
//   kInvolved: bias, mask, softcap, dropout, or a factor that is not positive.
//   requires  head_dim a multiple of 8, rows 16-byte aligned
//   Bytes moved: query and out once, keys and values that are seen once for the queries of a block, mostly
//   from the L2 cache.
#pragma once

#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/flash_attention/mma_tile.cuh"
#include "kernels/cuda/flash_attention/softmax.cuh"

namespace orrery::kernels::cuda::flash {

template <int kDim, bool kInvolved>
struct ForwardShape {
  static constexpr int tiles = !kInvolved && kDim <= 128 ? 2 : 1;  // of 16 queries a warp
  static constexpr int rows = 64 * tiles, keys = 64;
  static constexpr int query_bytes = rows * kDim * 2, key_bytes = keys * kDim * 2;
  static constexpr size_t shared_bytes = query_bytes + 2 * key_bytes;
};

/// Products become scores, of keys that are not seen -infinity. `first`: the tile's first key.
template <int kBlocks>
__device__ inline void score_products(const Rule& rule, const LaneRows& rows, int first,
                                      float (&scores)[kBlocks][4]) {
  const int c = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = first + 8 * n + 2 * c + i % 2, query = rows.query[i / 2];
      float bent;
      const bool seen = key >= rows.begin[i / 2] && key < rows.end[i / 2] && rule.unmasked(query, key);
      scores[n][i] = seen ? rule.score(scores[n][i], query, key, bent) : -INFINITY;
    }
}

template <DType kType, int kDim, bool kInvolved>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(const __grid_constant__ FlashAttention::Args args, int tiles) {
  using Shape = ForwardShape<kDim, kInvolved>;
  constexpr int kTiles = Shape::tiles, kKeys = Shape::keys;
  extern __shared__ __align__(128) uint4 memory[];
  const auto queries = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const uint32_t keys = queries + Shape::query_bytes, values = keys + Shape::key_bytes;

  pdl_wait();
  const FlashAttention::Problem& problem = args.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const Place at(blockIdx.x, tiles, static_cast<int>(problem.heads));
  const int first_row = (tiles - 1 - at.tile) * Shape::rows;
  const int kv_head = at.head / static_cast<int>(problem.heads / problem.kv_heads);
  const Band band(args, at.batch);
  const Rule rule(args, at.batch, at.head);
  const HalfRows key_rows(args.key, args.key_strides, at.batch, kv_head);
  const HalfRows value_rows(args.value, args.value_strides, at.batch, kv_head);

  const SeenKeys seen(band, first_row, Shape::rows);
  const int start = seen.start(kKeys), count = seen.tiles(kKeys), end = seen.end;

  if (count > 0) {
    copy_rows<kDim, Shape::rows>(queries, HalfRows(args.query, args.query_strides, at.batch, at.head),
                                 first_row, band.queries, head_dim);
    copy_rows<kDim, kKeys>(keys, key_rows, start, end, head_dim);
  }
  end_of_copies();

  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16 * kTiles;
  const float factor = kInvolved ? 1.0F : args.scale * kLog2OfE;
  RunningSum running[kTiles];
  float totals[kTiles][kDim / 8][4] = {};
  for (int t = 0; t < count; ++t) {
    const int first = start + t * kKeys;
    wait_for_copies();
    __syncthreads();  // the keys are there, and all are done with the values before
    copy_rows<kDim, kKeys>(values, value_rows, first, end, head_dim);
    end_of_copies();
    float scores[kTiles][kKeys / 8][4] = {};
    multiply_rows<kType, kDim, kKeys, kTiles>(queries, warp_row, keys, scores);
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
      if constexpr (kInvolved)
        score_products(rule, LaneRows(band, first_row + warp_row + 16 * i), first, scores[i]);
      else if (seen.has_edge(first, kKeys))
        hide_unseen(LaneRows(band, first_row + warp_row + 16 * i), first, scores[i]);
    wait_for_copies();
    __syncthreads();  // the values are there, and all are done with the keys
    if (t + 1 < count) copy_rows<kDim, kKeys>(keys, key_rows, first + kKeys, end, head_dim);
    end_of_copies();
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      float shrink[2];
      if (soften(scores[i], factor, running[i], shrink)) shrink_totals(shrink, totals[i]);
      if constexpr (kInvolved) {
        if (problem.drops) {
          const LaneRows rows(band, first_row + warp_row + 16 * i);
#pragma unroll
          for (int n = 0; n < kKeys / 8; ++n) {
            const unsigned kept = kept_along_row(rule, rows.query, first + 8 * n);
#pragma unroll
            for (int j = 0; j < 4; ++j)
              if ((kept >> j & 1U) == 0) scores[i][n][j] = 0;
          }
        }
      }
    }
    if constexpr (kTiles == 2) {
      const Factor<kType, kKeys> weights[2] = {Factor<kType, kKeys>(scores[0]),
                                               Factor<kType, kKeys>(scores[1])};
      add_rows<kType, kDim, kDim, kKeys>(weights, values, 0, totals);
    } else {
      const Factor<kType, kKeys> weights[1] = {Factor<kType, kKeys>(scores[0])};
      add_rows<kType, kDim, kDim, kKeys>(weights, values, 0, totals);
    }
  }
  wait_for_copies();
  __syncthreads();

  const auto all_queries = static_cast<int>(args.queries);
  auto* out =
      static_cast<uint16_t*>(args.out) + at.batch * args.out_strides.batch + at.head * args.out_strides.head;
  bool again[kTiles][2];
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    const int row = warp_row + 16 * i, query = first_row + row;
    float share[2];
    find_broken(totals[i], again[i]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      share[half] = finish_row(args, band, rule.first_row + query + lane_row(half), query + lane_row(half),
                               running[i].largest[half] * factor, running[i].sum[half]);
      again[i][half] = again[i][half] && share[half] > 0;
    }
    put_rows<kType, kDim, kDim>(queries, row, totals[i], share);
    store_rows<kDim, kDim, 16>(queries, row, out, args.out_strides.token, query, all_queries, 0, head_dim);
  }
#pragma unroll
  for (int i = 0; i < kTiles; ++i)
    each_again(again[i],
               [&](int row) { compute_out(args, at.batch, at.head, first_row + warp_row + 16 * i + row); });
}

/// The sizes that heads are padded to.
template <class Function>
auto with_forward_shape(int64_t head_dim, bool involved, Function&& function) {
  if (involved) {
    if (head_dim <= 64) return function.template operator()<64, true>();
    if (head_dim <= 128) return function.template operator()<128, true>();
    return function.template operator()<256, true>();
  }
  if (head_dim <= 32) return function.template operator()<32, false>();
  if (head_dim <= 64) return function.template operator()<64, false>();
  if (head_dim <= 96) return function.template operator()<96, false>();
  if (head_dim <= 128) return function.template operator()<128, false>();
  if (head_dim <= 192) return function.template operator()<192, false>();
  return function.template operator()<256, false>();
}

template <DType kType>
void start_forward(const FlashAttention::Args& args, const Launch& launch) {
  with_forward_shape(args.problem.head_dim, is_involved(args), [&]<int kDim, bool kInvolved>() {
    using Shape = ForwardShape<kDim, kInvolved>;
    const int tiles = tiles_of(args.queries, Shape::rows);
    launch_kernel(launch, forward_kernel<kType, kDim, kInvolved>,
                  dim3(static_cast<unsigned>(tiles * args.problem.heads * args.batch)), dim3(kThreads),
                  Shape::shared_bytes, args, tiles);
  });
}

}  // namespace orrery::kernels::cuda::flash
