// cuda.flash_general, forward: attention over tensors in float32 (flash_attention.h), for every legal
// problem.
//   out = sum_j keep p_j value_j / (1 - dropout),  p = softmax of the scores, by a running maximum
//   A block owns 64 queries of one batch and head and walks over keys in tiles of 64 that begin at multiples
//   of that; tiles that none of its queries sees are not read. 256 threads as 16 x 16: thread (y, x) has
//   queries y + 16 i, keys x + 16 j of scores, elements x + 16 j of out. Queries lie in shared memory, keys
//   come in parts of 32 elements, values 16 at a time; weights pass through shared memory. Rows are padded
//   by a word, so that neither direction meets a bank twice.
//   Bytes moved: query and out once, keys and values that are seen once for 64 queries.
#include <cstddef>

#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/flash_attention/rows.h"
#include "kernels/cuda/flash_attention/scores.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::flash {
namespace {

constexpr int kRows = 64, kKeys = 64, kThreads = 256;
constexpr int kDepth = 32;   // elements of keys at a time
constexpr int kValues = 16;  // keys whose values are there at a time

template <int kDim>
struct Memory {
  float query[kRows][kDim + 1];
  float weight[kRows][kKeys + 1];
  union {
    float key[kDepth][kKeys + 1];  // turned
    float value[kValues][kDim];
  };
};

/// Over the 16 lanes that have a query.
template <class Combine>
__device__ float over_row(float x, Combine combine) {
#pragma unroll
  for (int step = 8; step > 0; step /= 2) x = combine(x, __shfl_xor_sync(~0U, x, step));
  return x;
}

template <int kDim>
__global__ void __launch_bounds__(kThreads) general_kernel(const FlashAttention::Args args, int tiles) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<Memory<kDim>*>(memory);
  constexpr int kCols = kDim / 16;
  pdl_wait();
  const FlashAttention::Problem& problem = args.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const Place place(blockIdx.x, tiles, static_cast<int>(problem.heads));
  const int kv_head = place.head / static_cast<int>(problem.heads / problem.kv_heads);
  const Band band(args, place.batch);
  const Rule rule(args, place.batch, place.head);
  const int thread = static_cast<int>(threadIdx.x), x = thread % 16, y = thread / 16;
  const int first_row = place.tile * kRows;

  const auto base = [&](const HeadStrides& strides, int head) {
    return place.batch * strides.batch + head * strides.head;
  };
  const int64_t query_at = base(args.query_strides, place.head);
  const int64_t key_at = base(args.key_strides, kv_head), value_at = base(args.value_strides, kv_head);
  const auto element = [&](const void* from, int64_t at, const HeadStrides& strides, int token, int d) {
    return load_element<float>(problem.dtype, from, at + token * strides.token + d);
  };

  for (int i = thread; i < kRows * kDim; i += kThreads) {
    const int row = i / kDim, d = i % kDim, query = first_row + row;
    shared.query[row][d] = query < band.queries && d < head_dim
                               ? element(args.query, query_at, args.query_strides, query, d)
                               : 0.0F;
  }
  const int last_row = min(first_row + kRows, band.queries) - 1;
  const int begin = band.first_key(first_row) / kKeys * kKeys;
  const int end = last_row < first_row ? 0 : band.behind_key(last_row);

  float largest[4], sum[4] = {}, total[4][kCols] = {};
#pragma unroll
  for (float& each : largest) each = -INFINITY;
  for (int first = begin; first < end; first += kKeys) {
    float score[4][4] = {};
    for (int depth = 0; depth < head_dim; depth += kDepth) {
      __syncthreads();
      for (int i = thread; i < kKeys * kDepth; i += kThreads) {
        const int key = first + i / kDepth, d = depth + i % kDepth;
        shared.key[i % kDepth][i / kDepth] =
            key < end && d < head_dim ? element(args.key, key_at, args.key_strides, key, d) : 0.0F;
      }
      __syncthreads();
#pragma unroll 4
      for (int d = 0; d < kDepth; ++d) {
        float query[4], key[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) query[i] = shared.query[y + 16 * i][depth + d];
#pragma unroll
        for (int j = 0; j < 4; ++j) key[j] = shared.key[d][x + 16 * j];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) score[i][j] = fmaf(query[i], key[j], score[i][j]);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int query = first_row + y + 16 * i;
      float most = largest[i];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = first + x + 16 * j;
        float bent;
        score[i][j] = band.sees(query, key) && rule.unmasked(query, key)
                          ? rule.score(score[i][j], query, key, bent)
                          : -INFINITY;
        most = fmaxf(most, score[i][j]);
      }
      most = over_row(most, [](float a, float b) { return fmaxf(a, b); });
      const float shift = shift_of(most), shrink = exp2f(largest[i] - shift);
      largest[i] = most;
      float part = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = first + x + 16 * j;
        const float weight = exp2f(score[i][j] - shift);
        part += weight;
        const bool kept = !problem.drops || args.dropout.keeps(rule.first_row + query, key);
        shared.weight[y + 16 * i][x + 16 * j] = kept ? weight : 0.0F;
      }
      sum[i] = fmaf(sum[i], shrink, over_row(part, [](float a, float b) { return a + b; }));
#pragma unroll
      for (int j = 0; j < kCols; ++j) total[i][j] *= shrink;
    }
    for (int some = 0; some < kKeys; some += kValues) {
      __syncthreads();
      for (int i = thread; i < kValues * kDim; i += kThreads) {
        const int key = first + some + i / kDim, d = i % kDim;
        shared.value[i / kDim][d] =
            key < end && d < head_dim ? element(args.value, value_at, args.value_strides, key, d) : 0.0F;
      }
      __syncthreads();
#pragma unroll 4
      for (int k = 0; k < kValues; ++k) {
        float weight[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) weight[i] = shared.weight[y + 16 * i][some + k];
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
          const float value = shared.value[k][x + 16 * j];
#pragma unroll
          for (int i = 0; i < 4; ++i) total[i][j] = fmaf(weight[i], value, total[i][j]);
        }
      }
    }
  }

  const float kept = problem.drops ? args.dropout.scale : 1.0F;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int query = first_row + y + 16 * i;
    float none = 0;  // stays so, or becomes no number
    if (query < args.queries) {
      if (x == 0 && args.log_sum_exp != nullptr)
        args.log_sum_exp[rule.first_row + query] = log_of_sum(largest[i], sum[i]);
      const bool any = sum[i] != 0;
      const int64_t at = base(args.out_strides, place.head) + query * args.out_strides.token;
#pragma unroll
      for (int j = 0; j < kCols; ++j)
        if (x + 16 * j < head_dim) {
          const float out = any ? total[i][j] * kept / sum[i] : 0.0F;
          none = fmaf(out, 0.0F, none);
          store_element(problem.dtype, out, args.out, at + x + 16 * j);
        }
    }
    each_again_of_halves(none != 0,
                         [&](int half) { compute_out(args, place.batch, place.head, query - y % 2 + half); });
  }
}

template <int kDim>
void start(const FlashAttention::Args& args, const Launch& launch) {
  const int tiles = tiles_of(args.queries, kRows);
  launch_kernel(launch, general_kernel<kDim>,
                dim3(static_cast<unsigned>(tiles * args.problem.heads * args.batch)), dim3(kThreads),
                sizeof(Memory<kDim>), args, tiles);
}

void run(const FlashAttention::Args& args, const Launch& launch) {
  if (args.batch <= 0 || args.queries <= 0) return;
  if (args.problem.head_dim <= 64) return start<64>(args, launch);
  if (args.problem.head_dim <= 128) return start<128>(args, launch);
  start<256>(args, launch);
}

}  // namespace

Row<FlashAttention> general_row() {
  return {.name = "cuda.flash_general",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<FlashAttention, ref::legal>,
          .run = run,
          .source = "cuda/flash_attention/general.cu"};
}

}  // namespace orrery::kernels::cuda::flash
