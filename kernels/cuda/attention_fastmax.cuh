// Attention by Fastmax (Gerami et al. 2024, arXiv 2402.07901) in f32 arithmetic, for every legal problem with
// heads of at most 256 elements:
//   dst = sum_j w_j value_j / sum_j w_j      w_j = 1 + s_j + s_j^2 / 2, or max(1 + s_j, 0)
//   scores s_j and their bounds: kernels/attention.h; query, dst (tokens, heads * head_dim) f32; keys and
//   values packed f32, or pages of f32, f16, bf16, q8_0
//   Weights follow from their own scores alone, so sums over parts of the keys only add up. Keys are cut into
//   chunks of 256, at multiples of 256; a chunk is summed key by key, and chunks are added in their order.
//   That holds for both ways below, so that they give the same bits: a prompt and decode agree, however it is
//   cut.
//     attend: a block of 128 threads owns 32 rows (token, query head) of one sequence and one kv head and
//       walks over their keys in tiles of 32. Thread t owns row t / 4; of it the scores of keys t % 4 + 4 i,
//       and the elements (t % 4) * 4 + 16 i of the result.
//     attend_chunk: a block owns up to 16 query heads of one token that share a kv head, and one chunk of
//       keys, whose sums it leaves in the workspace. A warp owns heads w, w + 4, ..; its lane the score of
//       one key of a tile of 32, and the elements lane + 32 i of the totals. join_chunks adds the chunks.
//   Shared memory: the queries, one tile of keys and of values as f32 [..][kDim + 4], the factors of the
//   keys. Bytes moved: keys and values once per 32 rows; of tokens alone, once per 16 heads.
#pragma once

#include "kernels/cuda/attention_general.cuh"
#include "kernels/cuda/attention_rows.cuh"

namespace orrery::kernels::cuda::fastmax {

using general::dots;
using general::KeyRows;
using general::kKeys;
using general::kStrideOf;
using general::kThreads;
using general::Share;

constexpr int kWarps = kThreads / 32;
constexpr int kRows = general::kRows;
constexpr int kChunk = 256;  // keys
constexpr int kRound = 32;   // chunks that the workspace holds of a row
constexpr int kOwnHeads = kTokenHeads / kWarps;

constexpr size_t shared_bytes(int dim, int rows) {
  return sizeof(float) * (static_cast<size_t>(rows + 2 * kKeys) * (dim + 4) + kKeys);
}

template <int kDim, int kBlockRows>
struct Memory {
  float *queries, *keys, *values, *factors;

  __device__ explicit Memory(float4* shared)
      : queries(reinterpret_cast<float*>(shared)),
        keys(queries + kBlockRows * kStrideOf<kDim>),
        values(keys + kKeys * kStrideOf<kDim>),
        factors(values + kKeys * kStrideOf<kDim>) {}
};

/// x between least and most; where it is NaN, x.
__device__ inline float between(float least, float x, float most) {
  return x < least ? least : x > most ? most : x;
}

/// What brings a row of this squared length to the limit.
__device__ inline float to_limit(const Attention::Fastmax& fastmax, float squares) {
  constexpr float kShortest = Attention::Fastmax::kShortest, kLongest = Attention::Fastmax::kLongest;
  return fastmax.limit / sqrtf(between(kShortest * kShortest, squares, kLongest * kLongest));
}

__device__ inline float weight_of(const Attention::Fastmax& fastmax, float dot, float factor) {
  constexpr float kMost = Attention::Fastmax::kLargestScore;
  const float score = between(-kMost, dot * factor, kMost);
  const float weight = fmaf(fmaf(fastmax.p == 2 ? 0.5F : 0.0F, score, 1.0F), score, 1.0F);
  return weight < 0 ? 0.0F : weight;
}

__device__ inline float sum_of_warp(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(~0U, x, offset);
  return x;
}

/// The sum over the 32 keys of a tile, in one order: keys 16 apart first, then 8, 4, 1 and 2. Of lanes that
/// have a key each, and of four that have keys c + 4 i.
__device__ inline float sum_of_keys(float x) {
  x += __shfl_xor_sync(~0U, x, 16);
  x += __shfl_xor_sync(~0U, x, 8);
  x += __shfl_xor_sync(~0U, x, 4);
  return sum_of_quad(x);
}
__device__ inline float sum_of_keys(const float (&x)[8]) {
  return sum_of_quad(((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])));
}

/// Rows [first_row, first_row + rows) of a tile, scaled; zero beyond the tile's rows and beyond the head.
template <int kDim, int kBlockRows>
__device__ void load_queries(const Attention::Args& args, const RowTile& tile, int kv_head, int group,
                             float* queries) {
  const auto dim = static_cast<int>(args.problem.head_dim);
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < kBlockRows; r += kWarps) {
    const int row = tile.first_row + r;
    const float* query = row < tile.rows
                             ? args.query + element_of(tile, row, group, kv_head, dim, args.query_stride)
                             : nullptr;
    float x[kDim / 32], squares = 0;
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i) {
      const int d = lane + 32 * i;
      x[i] = query != nullptr && d < dim ? query[d] : 0.0F;
      squares = fmaf(x[i], x[i], squares);
    }
    const Attention::Fastmax& fastmax = args.problem.fastmax;
    const float scale = fastmax.normalise ? to_limit(fastmax, sum_of_warp(squares)) : args.scale;
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i) queries[r * kStrideOf<kDim> + lane + 32 * i] = x[i] * scale;
  }
}

/// The tile that the block has loaded goes to shared memory, with the factors of its keys.
template <DType kKv, int kDim, int kBlockRows>
__device__ void store_tile(const Attention::Fastmax& fastmax, const Share<kKv, kDim>& share,
                           const Memory<kDim, kBlockRows>& memory) {
  share.store(share.key, memory.keys);
  share.store(share.value, memory.values);
#pragma unroll
  for (int k = 0; k < Share<kKv, kDim>::kOwn; ++k) {
    float squares = 0;
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i) squares = fmaf(share.key[k][i], share.key[k][i], squares);
    squares = sum_of_warp(squares);
    if (threadIdx.x % 32 == 0)
      memory.factors[threadIdx.x / 32 + k * kWarps] = fastmax.normalise ? to_limit(fastmax, squares) : 1.0F;
  }
}

/// Tiles of keys one after the other: use(first key) while a tile lies in shared memory. Small heads leave
/// registers to fetch the next tile meanwhile.
template <DType kKv, int kDim, int kBlockRows, class Use>
__device__ void each_tile(const Attention::Args& args, const KeyRows& source, int begin, int end,
                          const Memory<kDim, kBlockRows>& memory, const Use& use) {
  constexpr bool kAhead = kDim <= 64;
  const auto dim = static_cast<int>(args.problem.head_dim);
  Share<kKv, kDim> share;
  int first = begin / kKeys * kKeys;
  if (kAhead) share.load(source, first, end, dim);
  for (; first < end; first += kKeys) {
    __syncthreads();  // the tile before is done with
    if (!kAhead) share.load(source, first, end, dim);
    store_tile<kKv, kDim, kBlockRows>(args.problem.fastmax, share, memory);
    __syncthreads();
    if (kAhead) share.load(source, first + kKeys, end, dim);
    use(first);
  }
}

/// A weighted mean of values, or zero where there is no weight.
__device__ inline float mean(float total, float sum) {
  return sum > 0 ? total / sum : (sum == 0 ? 0.0F : sum);
}

/// A thread's elements of a row, and the row's sum of weights.
template <int kDim>
struct Totals {
  float4 at[kDim / 16] = {};
  float sum = 0;

  __device__ void take(Totals& part) {
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      at[i].x += part.at[i].x, at[i].y += part.at[i].y, at[i].z += part.at[i].z, at[i].w += part.at[i].w;
    }
    sum += part.sum;
    part = {};
  }
};

/// Adds a tile's weighted values; lanes t % 4 = c have the weights of keys c + 4 i.
template <int kDim>
__device__ void add_values(const float (&weight)[8], const float* values, Totals<kDim>& part) {
  part.sum += sum_of_keys(weight);
#pragma unroll
  for (int k = 0; k < kKeys; ++k) {
    const float w = __shfl_sync(~0U, weight[k / 4], k % 4, 4);
    const float* value = values + k * kStrideOf<kDim> + threadIdx.x % 4 * 4;
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      const float4 v = *reinterpret_cast<const float4*>(value + 16 * i);
      part.at[i].x = fmaf(w, v.x, part.at[i].x);
      part.at[i].y = fmaf(w, v.y, part.at[i].y);
      part.at[i].z = fmaf(w, v.z, part.at[i].z);
      part.at[i].w = fmaf(w, v.w, part.at[i].w);
    }
  }
}

/// Blocks (tile of rows, kv head) of the sequences that bring at least `least` tokens.
template <DType kKv, int kDim>
__global__ void __launch_bounds__(kThreads, kDim <= 64 ? 3 : 1) attend(Attention::Args args, int least) {
  extern __shared__ float4 shared[];
  const Memory<kDim, kRows> memory(shared);

  pdl_wait();
  pdl_trigger_in_one_wave();
  const Attention::Problem& problem = args.problem;
  const auto group = static_cast<int>(problem.heads / problem.kv_heads);
  const auto dim = static_cast<int>(problem.head_dim);
  const int kv_head = blockIdx.y;
  const RowTile tile = find_tile(args.ragged, group, kRows, blockIdx.x, least);
  if (tile.sequence < 0) return;
  load_queries<kDim, kRows>(args, tile, kv_head, group, memory.queries);

  const int r = threadIdx.x / 4, c = threadIdx.x % 4;
  const int row = tile.first_row + r;
  const KeyRange mine = visible_keys(problem, tile.first_position + row / group, tile.length);
  const TileKeys seen = TileKeys::of(problem, tile, kRows, group);
  const KeyRows source(args, tile, kv_head, KvType<kKv>::row_bytes(dim));
  Totals<kDim> whole, part;
  each_tile<kKv, kDim, kRows>(args, source, seen.begin, seen.end, memory, [&](int first) {
    float weight[8];
    dots<kDim>(memory.queries + r * kStrideOf<kDim>, memory.keys + c * kStrideOf<kDim>, weight);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int key = first + c + 4 * i;
      weight[i] = key >= mine.begin && key < mine.end
                      ? weight_of(problem.fastmax, weight[i], memory.factors[c + 4 * i])
                      : 0.0F;
    }
    add_values<kDim>(weight, memory.values, part);
    if ((first + kKeys) % kChunk == 0) whole.take(part);
  });
  whole.take(part);

  if (row >= tile.rows) return;
  float* dst = args.dst + element_of(tile, row, group, kv_head, dim, args.dst_stride);
#pragma unroll
  for (int i = 0; i < kDim / 16; ++i) {
    const float x[4] = {whole.at[i].x, whole.at[i].y, whole.at[i].z, whole.at[i].w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int d = c * 4 + 16 * i + e;
      if (d < dim) dst[d] = mean(x[e], whole.sum);
    }
  }
}

// ---- tokens alone ----

/// The chunks of keys that a token sees, from its first on.
struct TokenChunks {
  KeyRange seen;
  int first, count;

  __device__ TokenChunks(const Attention::Problem& problem, const Owned& owned)
      : seen(visible_keys(problem, owned.position, owned.length)),
        first(seen.begin / kChunk),
        count(seen.end > seen.begin ? (seen.end - 1) / kChunk + 1 - first : 0) {}
};

/// What a round of chunks leaves of the tokens at hand: [token][query head][chunk of the round] totals and
/// sum; then, between rounds, [token][query head] the sum so far, whose totals wait in dst.
struct Parts {
  float* at;
  int heads, dim, tokens;

  static size_t floats(int64_t heads, int64_t dim, int64_t tokens) {
    return static_cast<size_t>(tokens * heads * (kRound * (dim + 1) + 1));
  }
  __device__ float* chunk(int token, int head, int k) const {
    return at + (static_cast<size_t>(token * heads + head) * kRound + k) * (dim + 1);
  }
  __device__ float& sum(int token, int head) const {
    return at[static_cast<size_t>(tokens) * heads * kRound * (dim + 1) + token * heads + head];
  }
};

/// The tokens of a launch: from `first` on of the step, or of the sequences, of which those that bring more
/// than one have none. And which of their chunks: kRound from `round` * kRound on.
struct TokenRound {
  int first;
  bool by_sequence;
  int round;
};

/// Dot product of a query and a key, in the order of dots().
template <int kDim>
__device__ float dot_of(const float* query, const float* key) {
  float4 sum = {};
#pragma unroll 4
  for (int d = 0; d < kDim; d += 4) {
    const float4 q = *reinterpret_cast<const float4*>(query + d);
    const float4 k = *reinterpret_cast<const float4*>(key + d);
    sum.x = fmaf(q.x, k.x, sum.x);
    sum.y = fmaf(q.y, k.y, sum.y);
    sum.z = fmaf(q.z, k.z, sum.z);
    sum.w = fmaf(q.w, k.w, sum.w);
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

/// Blocks (chunk of the round, token, kv head and 16 of its query heads).
template <DType kKv, int kDim>
__global__ void __launch_bounds__(kThreads, kDim <= 64 ? 3 : 1)
    attend_chunk(Attention::Args args, TokenRound tokens, Parts parts) {
  extern __shared__ float4 shared[];
  const Memory<kDim, kTokenHeads> memory(shared);

  pdl_wait();
  const Attention::Problem& problem = args.problem;
  const auto group = static_cast<int>(problem.heads / problem.kv_heads);
  const auto dim = static_cast<int>(problem.head_dim);
  const Owned owned =
      owned_token(args.ragged, tokens.first + static_cast<int>(blockIdx.y), tokens.by_sequence);
  if (owned.token < 0) return;
  const TokenChunks chunks(problem, owned);
  const int k = tokens.round * kRound + static_cast<int>(blockIdx.x);
  if (k >= chunks.count) return;

  const TokenHeads heads(problem, static_cast<int>(blockIdx.z));
  const int token = owned.token - args.ragged.sequence_starts[owned.sequence];
  const int first_row = token * group + heads.first - heads.kv_head * group;
  const RowTile tile{.sequence = owned.sequence,
                     .first_row = first_row,
                     .rows = first_row + heads.rows,
                     .first_token = owned.token - token,
                     .length = owned.length,
                     .first_position = owned.position - token};
  load_queries<kDim, kTokenHeads>(args, tile, heads.kv_head, group, memory.queries);

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = max(chunks.seen.begin, (chunks.first + k) * kChunk);
  const int end = min(chunks.seen.end, (chunks.first + k + 1) * kChunk);
  const KeyRows source(args, tile, heads.kv_head, KvType<kKv>::row_bytes(dim));
  float total[kOwnHeads][kDim / 32] = {}, sum[kOwnHeads] = {};
  each_tile<kKv, kDim, kTokenHeads>(args, source, begin, end, memory, [&](int first) {
    const bool seen = first + lane >= begin && first + lane < end;
#pragma unroll
    for (int j = 0; j < kOwnHeads; ++j) {
      const int head = warp + j * kWarps;
      if (head >= heads.rows) break;
      const float dot =
          dot_of<kDim>(memory.queries + head * kStrideOf<kDim>, memory.keys + lane * kStrideOf<kDim>);
      const float weight = seen ? weight_of(problem.fastmax, dot, memory.factors[lane]) : 0.0F;
      sum[j] += sum_of_keys(weight);
#pragma unroll 8
      for (int key = 0; key < kKeys; ++key) {
        const float w = __shfl_sync(~0U, weight, key);
#pragma unroll
        for (int i = 0; i < kDim / 32; ++i)
          total[j][i] = fmaf(w, memory.values[key * kStrideOf<kDim> + lane + 32 * i], total[j][i]);
      }
    }
  });
#pragma unroll
  for (int j = 0; j < kOwnHeads; ++j) {
    const int head = warp + j * kWarps;
    if (head >= heads.rows) break;
    float* part = parts.chunk(blockIdx.y, heads.first + head, blockIdx.x);
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i)
      if (lane + 32 * i < dim) part[lane + 32 * i] = total[j][i];
    if (lane == 0) part[dim] = sum[j];
  }
}

/// Blocks (query head, token). Adds the chunks of a round to those before, in their order.
__global__ void __launch_bounds__(kThreads)
    join_chunks(Attention::Args args, TokenRound tokens, Parts parts) {
  pdl_wait();
  const auto dim = static_cast<int>(args.problem.head_dim);
  const auto head = static_cast<int>(blockIdx.x), token = static_cast<int>(blockIdx.y);
  const Owned owned = owned_token(args.ragged, tokens.first + token, tokens.by_sequence);
  if (owned.token < 0) return;
  const int left = TokenChunks(args.problem, owned).count - tokens.round * kRound;
  if (left <= 0 && tokens.round > 0) return;
  const int count = max(0, min(left, kRound));
  float sum = tokens.round > 0 ? parts.sum(token, head) : 0.0F;
  for (int k = 0; k < count; ++k) sum += parts.chunk(token, head, k)[dim];
  float* dst = args.dst + owned.token * args.dst_stride + static_cast<int64_t>(head) * dim;
  for (int d = threadIdx.x; d < dim; d += kThreads) {
    float total = tokens.round > 0 ? dst[d] : 0.0F;
    for (int k = 0; k < count; ++k) total += parts.chunk(token, head, k)[d];
    dst[d] = left > kRound ? total : mean(total, sum);
  }
  __syncthreads();  // all have read the sum so far
  if (left > kRound && threadIdx.x == 0) parts.sum(token, head) = sum;
}

}  // namespace orrery::kernels::cuda::fastmax
