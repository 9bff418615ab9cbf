// cuda.flash_general, backward: gradients of attention over tensors in float32 (flash_attention.h), for every
// legal problem. Weights are computed again from log_sum_exp. One kernel, in two roles:
//   queries  a block owns 32 queries of one head and walks over the keys that they see: grad_query, grad_bias
//   keys     a block owns 32 keys of one key and value head and walks over the queries that see them, head
//            after head of its group: grad_key, grad_value
// So every gradient is added up by one block in one order, without atomics. 256 threads as 16 x 16: thread
// (y, x) has own rows y + 16 i, others x + 16 j, and elements x + 16 j of the sums. Own rows (of the query
// and grad_out, or of the key and value) lie in shared memory, 32 others come in parts of 64 elements: for
// their products with the own rows, and again to be added up by weight.
//   Bytes moved: own rows once; the others twice for 32 own rows.
#include <cstddef>

#include "kernels/cuda/flash_attention/backward.h"
#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/flash_attention/rows.h"
#include "kernels/cuda/flash_attention/scores.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::flash {
namespace {

constexpr int kSide = 32, kThreads = 256, kDepth = 64;

template <int kDim>
struct BackwardMemory {
  float own[2][kSide][kDim + 1];
  float other[2][kSide][kDepth + 1];
  float weight[kSide][kSide + 1], grad[kSide][kSide + 1];  // [own][other]
};

/// Rows of a tensor of one batch and head.
struct Rows {
  const void* from;
  int64_t at, stride;

  __device__ Rows(const void* from, const HeadStrides& strides, int batch, int head)
      : from(from), at(batch * strides.batch + head * strides.head), stride(strides.token) {}
  __device__ float element(DType dtype, int row, int d) const {
    return load_element<float>(dtype, from, at + row * stride + d);
  }
};

/// Copies `kCols` elements of 32 rows from `depth` on, zeros beyond the last row and element.
template <int kCols, int kWidth>
__device__ void copy_part(const Rows& rows, DType dtype, int first, int end, int depth, int head_dim,
                          float (&to)[kSide][kWidth]) {
  for (int i = static_cast<int>(threadIdx.x); i < kSide * kCols; i += kThreads) {
    const int row = i / kCols, d = depth + i % kCols;
    to[row][i % kCols] = first + row < end && d < head_dim ? rows.element(dtype, first + row, d) : 0.0F;
  }
}

template <int kDim, bool kOwnsKeys>
__global__ void __launch_bounds__(kThreads)
    general_backward_kernel(const FlashAttentionBackward::Args args, const float* sums, int tiles) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<BackwardMemory<kDim>*>(memory);
  constexpr int kParts = kDim / kDepth, kCols = kDepth / 16;
  pdl_wait();
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const auto heads = static_cast<int>(problem.heads), kv_heads = static_cast<int>(problem.kv_heads);
  const int group = heads / kv_heads;
  const Place place(blockIdx.x, tiles, kOwnsKeys ? kv_heads : heads);
  const int kv_head = kOwnsKeys ? place.head : place.head / group;
  const int first_head = kOwnsKeys ? place.head * group : place.head;
  const Band band(forward, place.batch);
  const int thread = static_cast<int>(threadIdx.x), x = thread % 16, y = thread / 16;
  const int first_own = place.tile * kSide;
  const int own_count = kOwnsKeys ? band.keys : band.queries;
  const int own_end = min(first_own + kSide, own_count), last_own = own_end - 1;

  const auto query_rows = [&](int head) {
    return Rows(forward.query, forward.query_strides, place.batch, head);
  };
  const auto grad_rows = [&](int head) {
    return Rows(args.grad_out, args.grad_out_strides, place.batch, head);
  };
  const Rows keys(forward.key, forward.key_strides, place.batch, kv_head);
  const Rows values(forward.value, forward.value_strides, place.batch, kv_head);
  copy_part<kDim>(kOwnsKeys ? keys : query_rows(first_head), problem.dtype, first_own, own_end, 0, head_dim,
                  shared.own[0]);
  copy_part<kDim>(kOwnsKeys ? values : grad_rows(first_head), problem.dtype, first_own, own_end, 0, head_dim,
                  shared.own[1]);

  int begin = 0, end = 0;
  if (first_own < own_end) {
    begin = (kOwnsKeys ? band.first_query(first_own) : band.first_key(first_own)) / kSide * kSide;
    end = kOwnsKeys ? band.behind_query(last_own) : band.behind_key(last_own);
  }
  float total[kOwnsKeys ? 2 : 1][2][kParts][kCols] = {};
  for (int head = first_head; head < first_head + (kOwnsKeys ? group : 1); ++head) {
    const Rule rule(forward, place.batch, head);
    const Rows others[2] = {kOwnsKeys ? query_rows(head) : keys, kOwnsKeys ? grad_rows(head) : values};
    for (int first = begin; first < end; first += kSide) {
      float product[2][2] = {}, grad[2][2] = {};
      for (int depth = 0; depth < head_dim; depth += kDepth) {
        __syncthreads();
#pragma unroll
        for (int which = 0; which < 2; ++which)
          copy_part<kDepth>(others[which], problem.dtype, first, end, depth, head_dim, shared.other[which]);
        __syncthreads();
#pragma unroll 4
        for (int d = 0; d < kDepth; ++d) {
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) {
              product[i][j] =
                  fmaf(shared.own[0][y + 16 * i][depth + d], shared.other[0][x + 16 * j][d], product[i][j]);
              grad[i][j] =
                  fmaf(shared.own[1][y + 16 * i][depth + d], shared.other[1][x + 16 * j][d], grad[i][j]);
            }
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int own = first_own + y + 16 * i, other = first + x + 16 * j;
          const int query = kOwnsKeys ? other : own, key = kOwnsKeys ? own : other;
          float weight = 0, ds = 0, e = 0;
          if (band.sees(query, key) && rule.unmasked(query, key)) {
            const int64_t row = rule.first_row + query;
            float bent;
            const float score = rule.score(product[i][j], query, key, bent);
            const float p = exp2f(score - shift_of_sum(forward.log_sum_exp[row]));
            const bool kept = !problem.drops || forward.dropout.keeps(row, key);
            const float scale = kept ? (problem.drops ? forward.dropout.scale : 1.0F) : 0.0F;
            weight = p * scale;
            ds = p * (grad[i][j] * scale - sums[row]);
            e = ds * forward.scale * (1 - bent * bent);
            if (!kOwnsKeys && args.grad_bias != nullptr) args.grad_bias[row * forward.keys + key] = ds;
          }
          shared.weight[y + 16 * i][x + 16 * j] = weight;
          shared.grad[y + 16 * i][x + 16 * j] = e;
        }
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const int depth = part * kDepth;
        if (depth >= head_dim) break;
        __syncthreads();
        copy_part<kDepth>(others[0], problem.dtype, first, end, depth, head_dim, shared.other[0]);
        if (kOwnsKeys)
          copy_part<kDepth>(others[1], problem.dtype, first, end, depth, head_dim, shared.other[1]);
        __syncthreads();
#pragma unroll 2
        for (int o = 0; o < kSide; ++o)
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const float e = shared.grad[y + 16 * i][o];
#pragma unroll
            for (int j = 0; j < kCols; ++j)
              total[0][i][part][j] = fmaf(e, shared.other[0][o][x + 16 * j], total[0][i][part][j]);
            if constexpr (kOwnsKeys) {
              const float weight = shared.weight[y + 16 * i][o];
#pragma unroll
              for (int j = 0; j < kCols; ++j)
                total[1][i][part][j] = fmaf(weight, shared.other[1][o][x + 16 * j], total[1][i][part][j]);
            }
          }
      }
    }
  }

  const int64_t rows = kOwnsKeys ? forward.keys : forward.queries;
  const int64_t head_row =
      (static_cast<int64_t>(place.batch) * (kOwnsKeys ? kv_heads : heads) + place.head) * rows;
  void* const targets[2] = {kOwnsKeys ? args.grad_key : args.grad_query, args.grad_value};
  float none[2] = {};  // by own row: stays so, or becomes no number
#pragma unroll
  for (int which = 0; which < (kOwnsKeys ? 2 : 1); ++which) {
    if (targets[which] == nullptr) continue;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int own = first_own + y + 16 * i;
      if (own >= rows) continue;
#pragma unroll
      for (int part = 0; part < kParts; ++part)
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
          const int d = part * kDepth + x + 16 * j;
          if (d < head_dim) {
            const float sum = own < own_end ? total[which][i][part][j] : 0.0F;
            none[i] = fmaf(sum, 0.0F, none[i]);
            store_element(problem.dtype, sum, targets[which], (head_row + own) * head_dim + d);
          }
        }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
    each_again_of_halves(none[i] != 0, [&](int half) {
      const int own = first_own + y - y % 2 + half + 16 * i;
      if constexpr (kOwnsKeys)
        compute_grad_key(args, sums, place.batch, place.head, own, 0, head_dim);
      else
        compute_grad_query(args, sums, place.batch, place.head, own);
    });
}

template <int kDim>
void start(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const FlashAttention::Args& forward = args.forward;
  const auto* sums = reinterpret_cast<const float*>(launch.workspace);
  if (args.grad_query != nullptr || args.grad_bias != nullptr) {
    const int tiles = tiles_of(forward.queries, kSide);
    launch_kernel(launch, general_backward_kernel<kDim, false>,
                  dim3(static_cast<unsigned>(tiles * forward.problem.heads * forward.batch)), dim3(kThreads),
                  sizeof(BackwardMemory<kDim>), args, sums, tiles);
  }
  if (args.grad_key != nullptr || args.grad_value != nullptr) {
    const int tiles = tiles_of(forward.keys, kSide);
    launch_kernel(launch, general_backward_kernel<kDim, true>,
                  dim3(static_cast<unsigned>(tiles * forward.problem.kv_heads * forward.batch)),
                  dim3(kThreads), sizeof(BackwardMemory<kDim>), args, sums, tiles);
  }
}

void run(const FlashAttentionBackward::Args& args, const Launch& launch) {
  if (args.forward.batch <= 0) return;
  begin_backward(args, launch);
  const int64_t head_dim = args.forward.problem.head_dim;
  if (head_dim <= 64) return start<64>(args, launch);
  if (head_dim <= 128) return start<128>(args, launch);
  start<256>(args, launch);
}

}  // namespace

Row<FlashAttentionBackward> general_backward_row() {
  return {.name = "cuda.flash_general",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<FlashAttentionBackward, ref::legal>,
          .run = run,
          .workspace = grad_sums_bytes,
          .source = "cuda/flash_attention/general_backward.cu"};
}

}  // namespace orrery::kernels::cuda::flash
