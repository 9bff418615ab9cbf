// Attention in f32 arithmetic, for every legal problem with heads of at most 256 elements:
//   dst = sum_j w_j value_j / sum_j w_j      w_j = exp(cap(scale * query . key_j) + bias_j - largest so far)
//   query, dst (tokens, heads * head_dim) f32; keys and values packed f32, or pages of f32, f16, bf16, q8_0
//   A block of 128 threads owns 32 rows (token, query head) of one sequence and one kv head and walks over
//   its keys in tiles of 32 that begin at multiples of 32, so that no result depends on the split into rows.
//   Shared memory: the queries, one tile of keys and of values as f32 [32][kDim + 4], weights [32][36].
//   Thread t owns row t / 4; of it the scores of keys t % 4 + 4 i, and the elements (t % 4) * 4 + 16 i of the
//   result, with maximum and sum of the row in all four threads.
//   Bytes moved: keys and values once per 32 rows.
#pragma once

#include "kernels/cuda/attention_common.cuh"
#include "kernels/cuda/device/one_wave.cuh"

namespace orrery::kernels::cuda::general {

constexpr int kRows = 32, kKeys = 32, kThreads = 128;
constexpr int kWeightStride = kKeys + 4;

template <int kDim>
constexpr int kStrideOf = kDim + 4;  // threads of eight rows meet in no bank
/// `tiles`: 2 where keys and values have a tile each, 1 where they take turns.
constexpr size_t shared_bytes(int dim, int tiles) {
  return sizeof(float) * ((kRows + tiles * kKeys) * static_cast<size_t>(dim + 4) + kRows * kWeightStride);
}

/// Where the keys and values of one sequence and kv head lie.
struct KeyRows {
  const std::byte *key, *value;
  const int32_t* pages;  // null: packed
  size_t page_stride, key_stride, value_stride;
  int page_tokens;

  __device__ KeyRows(const Attention::Args& args, const RowTile& tile, int kv_head, int row_bytes) {
    const auto dim = static_cast<size_t>(args.problem.head_dim);
    if (args.problem.keys == Attention::Keys::packed) {
      const size_t head = kv_head * dim;
      key = reinterpret_cast<const std::byte*>(args.key + tile.first_token * args.key_stride + head);
      value = reinterpret_cast<const std::byte*>(args.value + tile.first_token * args.value_stride + head);
      pages = nullptr;
      page_stride = 0;
      key_stride = static_cast<size_t>(args.key_stride) * sizeof(float);
      value_stride = static_cast<size_t>(args.value_stride) * sizeof(float);
      page_tokens = 1;
      return;
    }
    key_stride = value_stride = static_cast<size_t>(row_bytes);
    page_tokens = static_cast<int>(args.kv.page_tokens);
    key = args.kv.base + static_cast<size_t>(kv_head) * page_tokens * key_stride;
    value = key + static_cast<size_t>(args.kv.kv_heads) * page_tokens * key_stride;
    pages = args.ragged.page_table + tile.sequence * args.ragged.max_pages;
    page_stride = args.kv.page_stride;
  }
  /// Bytes from `key` and from `value` to the row of a position.
  __device__ void offsets(int position, size_t& key_at, size_t& value_at) const {
    size_t page = 0;
    if (pages != nullptr) {
      page = static_cast<size_t>(pages[position / page_tokens]) * page_stride;
      position %= page_tokens;
    }
    key_at = page + position * key_stride;
    value_at = page + position * value_stride;
  }
};

/// A warp's share of a tile of keys and values on its way to shared memory, as f32; zero beyond `end` and
/// beyond the head. Warp w owns keys w, w + 4, ...
template <DType kKv, int kDim>
struct Share {
  static constexpr int kOwn = kKeys / (kThreads / 32), kParts = kDim / 32;
  float key[kOwn][kParts], value[kOwn][kParts];

  __device__ void load(const KeyRows& from, int first, int end, int dim) {
#pragma unroll
    for (int k = 0; k < kOwn; ++k)
      load_row(from, first + threadIdx.x / 32 + k * (kThreads / 32), end, dim, k);
  }
  using Elements = float[kOwn][kParts];
  __device__ static void store(const Elements& from, float* tile) {
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      const int at = (threadIdx.x / 32 + k * (kThreads / 32)) * kStrideOf<kDim> + threadIdx.x % 32;
#pragma unroll
      for (int i = 0; i < kParts; ++i) tile[at + 32 * i] = from[k][i];
    }
  }

 private:
  __device__ void load_row(const KeyRows& from, int position, int end, int dim, int k) {
    const bool there = position < end;
    size_t key_at = 0, value_at = 0;
    if (there) from.offsets(position, key_at, value_at);
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      const int d = threadIdx.x % 32 + 32 * i;
      const bool read = there && d < dim;
      key[k][i] = read ? KvType<kKv>::load(from.key + key_at, d) : 0.0F;
      value[k][i] = read ? KvType<kKv>::load(from.value + value_at, d) : 0.0F;
    }
  }
};

template <int kDim>
__device__ void load_queries(const Attention::Args& args, const RowTile& tile, int kv_head, int group,
                             float* queries) {
  const auto dim = static_cast<int>(args.problem.head_dim);
  for (int r = threadIdx.x / 32; r < kRows; r += kThreads / 32) {
    const int row = tile.first_row + r;
    const int token = row / group;
    const float* src = args.query + (tile.first_token + token) * args.query_stride +
                       static_cast<int64_t>(kv_head * group + row - token * group) * dim;
    for (int d = threadIdx.x % 32; d < kDim; d += 32)
      queries[r * kStrideOf<kDim> + d] = row < tile.rows && d < dim ? src[d] : 0.0F;
  }
}

/// Dot products of one query with the thread's 8 keys.
template <int kDim>
__device__ void dots(const float* query, const float* keys, float (&dot)[8]) {
  float4 sum[8] = {};
#pragma unroll 4
  for (int d = 0; d < kDim; d += 4) {
    const float4 q = *reinterpret_cast<const float4*>(query + d);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 k = *reinterpret_cast<const float4*>(keys + 4 * i * kStrideOf<kDim> + d);
      sum[i].x = fmaf(q.x, k.x, sum[i].x);
      sum[i].y = fmaf(q.y, k.y, sum[i].y);
      sum[i].z = fmaf(q.z, k.z, sum[i].z);
      sum[i].w = fmaf(q.w, k.w, sum[i].w);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) dot[i] = (sum[i].x + sum[i].y) + (sum[i].z + sum[i].w);
}

/// What a row's scores get by the distance of the key.
struct Bias {
  const float* at_zero;  // null: none
  int reach, position;

  __device__ Bias(const Attention::Args& args, int head, int position)
      : at_zero(nullptr), reach(static_cast<int>(args.problem.bias_reach)), position(position) {
    if (reach > 0) at_zero = args.bias + static_cast<int64_t>(head) * (2 * reach + 1) + reach;
  }
  /// In powers of two, as a Logit.
  __device__ float operator()(int key) const {
    return at_zero == nullptr ? 0.0F : at_zero[max(-reach, min(key - position, reach))] * kLog2E;
  }
};

__device__ inline float largest_of_four(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0U, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0U, x, 2));
}

__device__ inline float sum_of_four(float x) {
  x += __shfl_xor_sync(~0U, x, 1);
  return x + __shfl_xor_sync(~0U, x, 2);
}

template <DType kKv, int kDim, int kTiles>
__global__ void __launch_bounds__(kThreads, kDim <= 32   ? 4
                                            : kDim <= 64 ? 3
                                                         : 2) attend(Attention::Args args, Logit logit) {
  constexpr int kStride = kStrideOf<kDim>;
  extern __shared__ float4 shared[];
  float* queries = reinterpret_cast<float*>(shared);
  float* keys = queries + kRows * kStride;
  float* values = keys + (kTiles - 1) * kKeys * kStride;
  float* weights = values + kKeys * kStride;

  pdl_wait();
  pdl_trigger_in_one_wave();
  const Attention::Problem& problem = args.problem;
  const auto group = static_cast<int>(problem.heads / problem.kv_heads);
  const auto dim = static_cast<int>(problem.head_dim);
  const int kv_head = blockIdx.y;
  const RowTile tile = find_tile(args.ragged, group, kRows, blockIdx.x);
  if (tile.sequence < 0) return;
  load_queries<kDim>(args, tile, kv_head, group, queries);

  const int r = threadIdx.x / 4, c = threadIdx.x % 4;
  const int row = tile.first_row + r;
  const int position = tile.first_position + row / group;
  const KeyRange mine = visible_keys(problem, position, tile.length);
  const Bias bias(args, kv_head * group + row % group, position);
  const int last = min(tile.first_row + kRows, tile.rows) - 1;
  const int begin = visible_keys(problem, tile.first_position + tile.first_row / group, tile.length).begin;
  const int end = visible_keys(problem, tile.first_position + last / group, tile.length).end;
  const KeyRows source(args, tile, kv_head, KvType<kKv>::row_bytes(dim));

  float largest = -INFINITY, sum = 0;
  float4 total[kDim / 16] = {};
  // Small heads leave registers to fetch the next tile while this one is used.
  constexpr bool kAhead = kDim <= 64 && kTiles > 1;
  Share<kKv, kDim> share;
  if (kAhead) share.load(source, begin / kKeys * kKeys, end, dim);
  for (int first = begin / kKeys * kKeys; first < end; first += kKeys) {
    __syncthreads();  // the tile before is done with
    if (!kAhead) share.load(source, first, end, dim);
    share.store(share.key, keys);
    if (kTiles > 1) share.store(share.value, values);
    __syncthreads();
    if (kAhead) share.load(source, first + kKeys, end, dim);
    float weight[8];
    dots<kDim>(queries + r * kStride, keys + c * kStride, weight);
    float most = largest;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int key = first + c + 4 * i;
      weight[i] = key >= mine.begin && key < mine.end ? logit(weight[i]) + bias(key) : -INFINITY;
      most = fmaxf(most, weight[i]);
    }
    most = largest_of_four(most);
    const float shift = most == -INFINITY ? 0.0F : most;
    const float shrink = exp2f(largest - shift);
    largest = most;
    float part = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      weight[i] = exp2f(weight[i] - shift);
      part += weight[i];
      weights[r * kWeightStride + c + 4 * i] = weight[i];
    }
    sum = sum * shrink + sum_of_four(part);
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      total[i].x *= shrink, total[i].y *= shrink, total[i].z *= shrink, total[i].w *= shrink;
    }
    __syncwarp();  // a row's weights come from four threads of one warp
    if (kTiles == 1) {
      __syncthreads();  // the keys are done with
      share.store(share.value, values);
      __syncthreads();
    }
#pragma unroll 4
    for (int k = 0; k < kKeys; ++k) {
      const float w = weights[r * kWeightStride + k];
      const float* value = values + k * kStride + c * 4;
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i) {
        const float4 v = *reinterpret_cast<const float4*>(value + 16 * i);
        total[i].x = fmaf(w, v.x, total[i].x);
        total[i].y = fmaf(w, v.y, total[i].y);
        total[i].z = fmaf(w, v.z, total[i].z);
        total[i].w = fmaf(w, v.w, total[i].w);
      }
    }
  }

  if (row >= tile.rows) return;
  const int token = row / group;
  float* dst = args.dst + (tile.first_token + token) * args.dst_stride +
               static_cast<int64_t>(kv_head * group + row - token * group) * dim;
#pragma unroll
  for (int i = 0; i < kDim / 16; ++i) {
    const float x[4] = {total[i].x, total[i].y, total[i].z, total[i].w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int d = c * 4 + 16 * i + e;
      if (d < dim) dst[d] = sum > 0 ? x[e] / sum : (sum == 0 ? 0.0F : sum);
    }
  }
}

template <DType kKv>
void start(const Attention::Args& args, const Launch& launch) {
  const dim3 grid(tile_bound(args, kRows), static_cast<unsigned>(args.problem.kv_heads));
  const auto with = [&](auto* kernel, int dim, int tiles) {
    launch_kernel(launch, kernel, grid, dim3(kThreads), shared_bytes(dim, tiles), args, Logit::of(args));
  };
  if (args.problem.head_dim <= 32) return with(attend<kKv, 32, 2>, 32, 2);
  if (args.problem.head_dim <= 64) return with(attend<kKv, 64, 2>, 64, 2);
  if (args.problem.head_dim <= 128) return with(attend<kKv, 128, 2>, 128, 2);
  if (shared_bytes(256, 2) <= current_card().shared_per_block) return with(attend<kKv, 256, 2>, 256, 2);
  with(attend<kKv, 256, 1>, 256, 1);
}

}  // namespace orrery::kernels::cuda::general
