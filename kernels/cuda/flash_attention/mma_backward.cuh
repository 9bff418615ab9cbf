// cuda.flash_mma, backward: gradients of attention over tensors of f16 or bf16 on the tensor cores
// (flash_attention.h). Weights are computed again from log_sum_exp. One kernel, in two roles:
//   queries  a block owns 64 queries of one head and walks over the keys that they see: grad_query, grad_bias
//   keys     a block owns 64 keys of one key and value head and walks over the queries that see them, head
//            after head of its group: grad_key, grad_value
// Either way there are two own tiles (query and grad_out, or key and value) and two of the others, and:
//   product = own0 . other0     grad = own1 . other1     both (own rows x others), in registers
//   total0 += e other0          total1 += weight other1 (of keys)
// so that weights and their gradients, rounded, are factors of the second products as the first ones left
// them, with nothing exchanged between warps: a warp owns 16 rows. Each gradient is added up by one block in
// one order: no atomics, the same bits each time. Against one kernel that adds up grad_query by atomics it
// makes the two products of weights twice, 7 instead of 5.
//   The others come 64 rows at a time in two stages (cp.async); of heads above 128 elements 32 in one stage,
//   and a block of keys adds up 128 of its columns, another the rest: its totals have to fit registers.
//   kInvolved: bias, mask, softcap or dropout.
//   requires  head_dim a multiple of 8, rows 16-byte aligned
//   Bytes moved: own rows once; the others once for 64 own rows, mostly from the L2 cache.
#pragma once

#include "kernels/cuda/flash_attention/backward.h"
#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/flash_attention/mma_tile.cuh"

namespace orrery::kernels::cuda::flash {

template <int kDim, bool kOwnsKeys>
struct BackwardShape {
  static constexpr int own = 64, others = kDim > 128 ? 32 : 64, stages = kDim > 128 ? 1 : 2;
  static constexpr int cols = kOwnsKeys && kDim > 128 ? 128 : kDim, parts = kDim / cols;
  static constexpr int own_bytes = own * kDim * 2, other_bytes = others * kDim * 2;
  static constexpr size_t shared_bytes =
      2 * own_bytes + stages * (2 * other_bytes + (kOwnsKeys ? 2 * others * sizeof(float) : 0));
};

/// What is subtracted of the scores and of the gradients of a query's weights.
struct QuerySums {
  float shift, g;

  __device__ QuerySums(const Band& band, const float* log_sum_exp, const float* sums, int64_t first_row,
                       int query)
      : shift(INFINITY), g(0) {
    if (query >= band.queries) return;
    shift = shift_of_sum(log_sum_exp[first_row + query]);
    g = sums[first_row + query];
  }
};

template <DType kType, int kDim, bool kOwnsKeys, bool kInvolved>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const __grid_constant__ FlashAttentionBackward::Args args, const float* sums, int tiles) {
  using Shape = BackwardShape<kDim, kOwnsKeys>;
  constexpr int kOthers = Shape::others, kCols = Shape::cols, kStages = Shape::stages;
  extern __shared__ __align__(128) uint4 memory[];
  const auto own0 = static_cast<uint32_t>(__cvta_generic_to_shared(memory)), own1 = own0 + Shape::own_bytes;
  const uint32_t others = own1 + Shape::own_bytes;
  float* const shared_sums =
      reinterpret_cast<float*>(memory) + (2 * Shape::own_bytes + kStages * 2 * Shape::other_bytes) / 4;

  pdl_wait();
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const auto heads = static_cast<int>(problem.heads), kv_heads = static_cast<int>(problem.kv_heads);
  const int group = heads / kv_heads;
  const Place at(blockIdx.x, tiles * Shape::parts, kOwnsKeys ? kv_heads : heads);
  const int first_chunk = at.tile % Shape::parts * (kCols / 8);
  // The queries that see most keys are last, the keys that most queries see first.
  const int tile = kOwnsKeys ? at.tile / Shape::parts : tiles - 1 - at.tile;
  const int kv_head = kOwnsKeys ? at.head : at.head / group;
  const int first_head = kOwnsKeys ? at.head * group : at.head;
  const Band band(forward, at.batch);
  const int first_own = tile * Shape::own;
  const int own_end = min(first_own + Shape::own, kOwnsKeys ? band.keys : band.queries);

  int begin = 0, end = 0;
  if (first_own < own_end) {
    begin = (kOwnsKeys ? band.first_query(first_own) : band.first_key(first_own)) / kOthers * kOthers;
    end = kOwnsKeys ? band.behind_query(own_end - 1) : band.behind_key(own_end - 1);
  }
  const int count = end > begin ? (end - begin + kOthers - 1) / kOthers : 0;  // tiles of one head
  const int all = kOwnsKeys ? count * group : count;

  const auto copy_others = [&](int t) {
    if (t < all) {
      const int head = first_head + t / count, first = begin + t % count * kOthers;
      const uint32_t to = others + static_cast<uint32_t>(t % kStages * 2 * Shape::other_bytes);
      if constexpr (kOwnsKeys) {
        copy_rows<kDim, kOthers>(to, HalfRows(forward.query, forward.query_strides, at.batch, head), first,
                                 end, head_dim);
        copy_rows<kDim, kOthers>(to + Shape::other_bytes,
                                 HalfRows(args.grad_out, args.grad_out_strides, at.batch, head), first, end,
                                 head_dim);
        const auto own = static_cast<int>(threadIdx.x);
        if (own < kOthers) {
          const int64_t row = (static_cast<int64_t>(at.batch) * heads + head) * forward.queries;
          const QuerySums of(band, forward.log_sum_exp, sums, row, first + own);
          float* const stage = shared_sums + t % kStages * 2 * kOthers;
          stage[own] = of.shift;
          stage[kOthers + own] = of.g;
        }
      } else {
        copy_rows<kDim, kOthers>(to, HalfRows(forward.key, forward.key_strides, at.batch, kv_head), first,
                                 end, head_dim);
        copy_rows<kDim, kOthers>(to + Shape::other_bytes,
                                 HalfRows(forward.value, forward.value_strides, at.batch, kv_head), first,
                                 end, head_dim);
      }
    }
    end_of_copies();
  };
  if (all > 0) {
    const HalfRows rows0 = kOwnsKeys ? HalfRows(forward.key, forward.key_strides, at.batch, kv_head)
                                     : HalfRows(forward.query, forward.query_strides, at.batch, at.head);
    const HalfRows rows1 = kOwnsKeys ? HalfRows(forward.value, forward.value_strides, at.batch, kv_head)
                                     : HalfRows(args.grad_out, args.grad_out_strides, at.batch, at.head);
    copy_rows<kDim, Shape::own>(own0, rows0, first_own, own_end, head_dim);
    copy_rows<kDim, Shape::own>(own1, rows1, first_own, own_end, head_dim);
  }
  copy_others(0);

  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, c = static_cast<int>(threadIdx.x) % 4;
  const int lane_own = first_own + warp_row + g;  // and 8 further
  const float factor = forward.scale * kLog2OfE;
  const float kept_scale = problem.drops ? forward.dropout.scale : 1.0F;
  const int64_t batch_row = static_cast<int64_t>(at.batch) * heads * forward.queries;
  float own_shift[2], own_g[2];
  if constexpr (!kOwnsKeys) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const QuerySums of(band, forward.log_sum_exp, sums, batch_row + at.head * forward.queries,
                         lane_own + 8 * half);
      own_shift[half] = of.shift, own_g[half] = of.g;
    }
  }

  float total0[1][kCols / 8][4] = {}, total1[1][kOwnsKeys ? kCols / 8 : 1][4] = {};
  for (int t = 0; t < all; ++t) {
    wait_for_copies();
    __syncthreads();
    if constexpr (kStages == 2) copy_others(t + 1);  // all are done with what lay there
    const int head = first_head + t / count, first = begin + t % count * kOthers;
    const uint32_t other0 = others + static_cast<uint32_t>(t % kStages * 2 * Shape::other_bytes);
    const uint32_t other1 = other0 + Shape::other_bytes;
    const float* const stage = shared_sums + t % kStages * 2 * kOthers;

    float weight[1][kOthers / 8][4] = {}, grad[1][kOthers / 8][4] = {};
    multiply_rows<kType, kDim, kOthers, 1>(own0, warp_row, other0, weight);
    multiply_rows<kType, kDim, kOthers, 1>(own1, warp_row, other1, grad);

    const Rule rule(forward, at.batch, head);
    if constexpr (!kInvolved) {
      const bool all_see = kOwnsKeys ? band.all_see(first, kOthers, first_own, Shape::own)
                                     : band.all_see(first_own, Shape::own, first, kOthers);
      if (!all_see) {
#pragma unroll
        for (int n = 0; n < kOthers / 8; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int own = lane_own + i / 2 * 8, other = first + 8 * n + 2 * c + i % 2;
            if (!band.sees(kOwnsKeys ? other : own, kOwnsKeys ? own : other)) weight[0][n][i] = -INFINITY;
          }
      }
    }
#pragma unroll
    for (int n = 0; n < kOthers / 8; ++n) {
      unsigned kept = ~0U;
      if constexpr (kInvolved) {
        if (problem.drops) {
          const int rows[2] = {lane_own, lane_own + 8};
          kept = kOwnsKeys ? kept_along_column(rule, first + 8 * n, first_own + warp_row)
                           : kept_along_row(rule, rows, first + 8 * n);
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int own = lane_own + i / 2 * 8, in_tile = 8 * n + 2 * c + i % 2, other = first + in_tile;
        const int query = kOwnsKeys ? other : own, key = kOwnsKeys ? own : other;
        const float shift = kOwnsKeys ? stage[in_tile] : own_shift[i / 2];
        const float mean = kOwnsKeys ? stage[kOthers + in_tile] : own_g[i / 2];
        float p, slope = 1.0F, stays = 1.0F;
        if constexpr (kInvolved) {
          const bool seen = band.sees(query, key);
          float bent = 0;
          p = seen && rule.unmasked(query, key)
                  ? fast_exp2(rule.score(weight[0][n][i], query, key, bent) - shift)
                  : 0.0F;
          slope = 1 - bent * bent;
          stays = (kept >> i & 1U) != 0 ? kept_scale : 0.0F;
        } else {
          p = fast_exp2(fmaf(weight[0][n][i], factor, -shift));
        }
        const float ds = p == 0 ? 0.0F : p * (grad[0][n][i] * stays - mean);
        if constexpr (!kOwnsKeys && kInvolved) {
          if (band.sees(query, key) && args.grad_bias != nullptr)
            args.grad_bias[(rule.first_row + query) * forward.keys + key] = ds;
        }
        weight[0][n][i] = p * stays;
        grad[0][n][i] = ds * slope;
      }
    }
    const Factor<kType, kOthers> grads[1] = {Factor<kType, kOthers>(grad[0])};
    if constexpr (kOwnsKeys) {
      const Factor<kType, kOthers> weights[1] = {Factor<kType, kOthers>(weight[0])};
      add_rows<kType, kDim, kCols, kOthers>(weights, other1, first_chunk, total1);
    }
    add_rows<kType, kDim, kCols, kOthers>(grads, other0, first_chunk, total0);
    if constexpr (kStages == 1) {
      __syncthreads();
      copy_others(t + 1);
    }
  }
  wait_for_copies();
  __syncthreads();

  // The own tiles are read no more.
  const auto rows = static_cast<int>(kOwnsKeys ? forward.keys : forward.queries);
  const int64_t first_element =
      (static_cast<int64_t>(at.batch) * (kOwnsKeys ? kv_heads : heads) + at.head) * rows * head_dim;
  const auto write = [&](void* to, uint32_t own_tile, const auto& total, float scale) {
    if (to == nullptr) return;
    const float share[2] = {lane_own < own_end ? scale : 0.0F, lane_own + 8 < own_end ? scale : 0.0F};
    put_rows<kType, kDim, kCols>(own_tile, warp_row, total[0], share);
    store_rows<kDim, kCols, 16>(own_tile, warp_row, static_cast<uint16_t*>(to) + first_element, head_dim,
                                first_own + warp_row, rows, first_chunk, head_dim);
  };
  write(kOwnsKeys ? args.grad_key : args.grad_query, own0, total0, forward.scale);
  if constexpr (kOwnsKeys) write(args.grad_value, own1, total1, 1.0F);

  bool again[2];
  find_broken(total0[0], again);
  if constexpr (kOwnsKeys) {
    bool broken[2];
    find_broken(total1[0], broken);
    again[0] = again[0] || broken[0];
    again[1] = again[1] || broken[1];
  }
  again[0] = again[0] && lane_own < own_end;
  again[1] = again[1] && lane_own + 8 < own_end;
  each_again(again, [&](int row) {
    const int own = first_own + warp_row + row;
    if constexpr (kOwnsKeys)
      compute_grad_key(args, sums, at.batch, kv_head, own, 8 * first_chunk,
                       min(8 * first_chunk + kCols, head_dim));
    else if (args.grad_query != nullptr)
      compute_grad_query(args, sums, at.batch, at.head, own);
  });
}

/// The sizes that heads are padded to.
template <class Function>
auto with_backward_dim(int64_t head_dim, Function&& function) {
  if (head_dim <= 64) return function.template operator()<64>();
  if (head_dim <= 128) return function.template operator()<128>();
  return function.template operator()<256>();
}

template <DType kType, int kDim, bool kOwnsKeys, bool kInvolved>
void start_role(const FlashAttentionBackward::Args& args, const Launch& launch) {
  using Shape = BackwardShape<kDim, kOwnsKeys>;
  const FlashAttention::Args& forward = args.forward;
  const int tiles = tiles_of(kOwnsKeys ? forward.keys : forward.queries, Shape::own);
  const int64_t heads = kOwnsKeys ? forward.problem.kv_heads : forward.problem.heads;
  launch_kernel(launch, backward_kernel<kType, kDim, kOwnsKeys, kInvolved>,
                dim3(static_cast<unsigned>(tiles * Shape::parts * heads * forward.batch)), dim3(kThreads),
                Shape::shared_bytes, args, reinterpret_cast<const float*>(launch.workspace), tiles);
}

template <DType kType, int kDim, bool kInvolved>
void start_roles(const FlashAttentionBackward::Args& args, const Launch& launch) {
  if (args.grad_query != nullptr || args.grad_bias != nullptr)
    start_role<kType, kDim, false, kInvolved>(args, launch);
  if (args.grad_key != nullptr || args.grad_value != nullptr)
    start_role<kType, kDim, true, kInvolved>(args, launch);
}

template <DType kType>
void start_backward(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const bool involved = is_involved(args.forward) || args.grad_bias != nullptr;
  with_backward_dim(args.forward.problem.head_dim, [&]<int kDim>() {
    involved ? start_roles<kType, kDim, true>(args, launch) : start_roles<kType, kDim, false>(args, launch);
  });
}

}  // namespace orrery::kernels::cuda::flash
