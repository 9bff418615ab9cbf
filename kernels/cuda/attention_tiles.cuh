// Attention of many queries over f16 or bf16 pages (FlashAttention-2, Dao 2023, arXiv 2307.08691):
//   dst = sum_j w_j value_j / sum_j w_j      w_j = exp(cap(scale * query . key_j) - largest so far)
//   query, dst (tokens, heads * head_dim) f32; head_dim a multiple of 8, at most kDim; pages 16-byte aligned
//   A block of 4 warps owns 64 rows (token, query head) of one sequence and one kv head and walks over its
//   keys in tiles of 64 that begin at multiples of 64 (32 for heads above 128 elements); a row's result
//   depends on its keys alone, not on the rows beside it. Tiles that no row sees are not read.
//   A warp owns 16 rows: queries, scores, weights and totals stay in its registers, lane (g, c) has rows g
//   and g + 8 (attention_mma.cuh). Queries and weights are split into terms: results are those of f32.
//   Shared memory: two tiles of keys and two of values, 16-byte chunk i of row r at i ^ (r % 8), so that
//   ldmatrix meets no bank twice; cp.async fills one while the other is used. Where the rows of the tile
//   after that lie; queries as fragments, where registers cannot hold them.
//   Bytes moved: keys and values that are seen, once per 64 rows.
#pragma once

#include "kernels/cuda/attention_rows.cuh"
#include "kernels/cuda/device/async_copy.cuh"

namespace orrery::kernels::cuda::tiles {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kRows = 16 * kWarps;

/// Keys of a tile: as many as the registers and the shared memory of two blocks, or of one, hold; half of
/// that where a card's shared memory holds no more.
template <int kDim>
constexpr int kKeysOf = kDim > 128 ? 32 : 64;

constexpr size_t kNowhere = ~size_t{0};

template <DType kKv, int kDim, int kKeys = kKeysOf<kDim>>
struct Sizes {
  static constexpr int terms = Mma<kKv>::terms;
  static constexpr int fragments = kDim / 16;  // of a query
  static constexpr bool queries_in_registers = terms * fragments <= 12;
  static constexpr int row_bytes = kDim * 2;
  static constexpr int keys = kKeys;  // of a tile
  static constexpr int tile_bytes = keys * row_bytes;
  static constexpr int query_bytes = queries_in_registers ? 0 : kWarps * terms * fragments * 32 * 16;
  static constexpr size_t shared_bytes = 4 * tile_bytes + query_bytes + 2 * keys * sizeof(size_t);
};

/// Starts to copy a tile of keys and values whose rows lie at `offsets`; zeros where there is no row.
template <int kDim, int kKeys>
__device__ void copy_tile(const KvPages& pages, const size_t* offsets, uint32_t keys, uint32_t values) {
  constexpr int kChunks = kDim / 8;
  const int chunk = threadIdx.x % kChunks;
#pragma unroll
  for (int i = 0; i < kKeys * kChunks / kThreads; ++i) {
    const int row = threadIdx.x / kChunks + i * (kThreads / kChunks);
    const size_t offset = offsets[row];
    const bool there = offset != kNowhere && chunk * 8 < pages.head_dim;
    const std::byte* from = pages.key + (there ? offset + chunk * 16 : 0);
    const uint32_t to = row * kDim * 2 + (chunk ^ (row % 8)) * 16;
    copy_16(keys + to, from, there);
    copy_16(values + to, from + pages.value, there);
  }
  end_of_copies();
}

/// The elements of fragment f of the lane's rows, in the order of Mma<>.
__device__ inline void read_queries(const QueryRows& rows, int f, int head_dim, float (&x)[8]) {
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int d = 16 * f + 8 * (i / 4) + 2 * c + i % 2;
    const float* query = rows.query[i / 2 % 2];
    x[i] = query != nullptr && d < head_dim ? query[d] : 0.0F;
  }
}

/// Splits the warp's queries, scaled to [1, 2), into fragments [term][f].
template <DType kKv, int kDim, class Keep>
__device__ void split_queries(QueryRows& rows, int head_dim, const Keep& keep) {
  using Size = Sizes<kKv, kDim>;
  float largest[2] = {};
#pragma unroll 1
  for (int f = 0; f < Size::fragments; ++f) {
    float x[8];
    read_queries(rows, f, head_dim, x);
#pragma unroll
    for (int i = 0; i < 8; ++i) largest[i / 2 % 2] = fmaxf(largest[i / 2 % 2], fabsf(x[i]));
  }
  float to[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const RowScale scale = RowScale::of(largest_of_quad(largest[half]));
    to[half] = scale.to;
    rows.scale[half] *= scale.back;
  }
#pragma unroll
  for (int f = 0; f < Size::fragments; ++f) {
    float x[8];
    read_queries(rows, f, head_dim, x);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] *= to[i / 2 % 2];
#pragma unroll
    for (int term = 0; term < Size::terms; ++term) {
      uint4 fragment;
      fragment.x = Mma<kKv>::take(x[0], x[1]);
      fragment.y = Mma<kKv>::take(x[2], x[3]);
      fragment.z = Mma<kKv>::take(x[4], x[5]);
      fragment.w = Mma<kKv>::take(x[6], x[7]);
      keep(term, f, fragment);
    }
  }
}

/// scores[n] are the warp's products with keys 8 n .. 8 n + 7 of the tile. Larger heads are summed in parts,
/// so that what the tensor core truncates does not add up.
template <DType kKv, int kDim, int kKeys, class Query>
__device__ void multiply_keys(uint32_t keys, const Query& query, float (&scores)[kKeys / 8][4]) {
  using Size = Sizes<kKv, kDim, kKeys>;
  constexpr int kPart = kDim > 128 ? 4 : Size::fragments;
  const int lane = threadIdx.x % 32;
  const uint32_t base = keys + (lane / 16 * 8 + lane % 8) * Size::row_bytes;
#pragma unroll
  for (int first = 0; first < Size::fragments; first += kPart) {
    float part[kKeys / 8][4] = {};
#pragma unroll(Size::queries_in_registers ? kPart : 2)
    for (int f = first; f < first + kPart; ++f) {
      const uint32_t chunk = ((2 * f + lane / 8 % 2) ^ (lane % 8)) * 16;
      uint4 key[kKeys / 16];
#pragma unroll
      for (int n = 0; n < kKeys / 16; ++n) key[n] = load_matrices(base + 16 * n * Size::row_bytes + chunk);
#pragma unroll
      for (int term = 0; term < Size::terms; ++term) {
        const uint4 a = query(term, f);
#pragma unroll
        for (int n = 0; n < kKeys / 16; ++n) {
          Mma<kKv>::multiply(part[2 * n], a, key[n].x, key[n].y);
          Mma<kKv>::multiply(part[2 * n + 1], a, key[n].z, key[n].w);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kKeys / 2; ++i)
      scores[i / 4][i % 4] = first == 0 ? part[i / 4][i % 4] : scores[i / 4][i % 4] + part[i / 4][i % 4];
  }
}

/// What a lane has of its two rows.
template <int kDim>
struct State {
  Softmax softmax;
  float total[kDim / 8][4] = {};
};

/// Adds the weighted values of a tile to the totals, 16 elements at a time; each tile's sum begins at zero.
template <DType kKv, int kDim, int kKeys>
__device__ void add_values(uint32_t values, float (&scores)[kKeys / 8][4], const float (&shrink)[2],
                           State<kDim>& state) {
  using Size = Sizes<kKv, kDim, kKeys>;
  const int lane = threadIdx.x % 32;
  uint4 weights[Size::terms][kKeys / 16];
#pragma unroll
  for (int k = 0; k < kKeys / 16; ++k) {
#pragma unroll
    for (int term = 0; term < Size::terms; ++term) {
      weights[term][k].x = Mma<kKv>::take(scores[2 * k][0], scores[2 * k][1]);
      weights[term][k].y = Mma<kKv>::take(scores[2 * k][2], scores[2 * k][3]);
      weights[term][k].z = Mma<kKv>::take(scores[2 * k + 1][0], scores[2 * k + 1][1]);
      weights[term][k].w = Mma<kKv>::take(scores[2 * k + 1][2], scores[2 * k + 1][3]);
    }
  }
  const uint32_t base = values + (lane / 8 % 2 * 8 + lane % 8) * Size::row_bytes;
#pragma unroll
  for (int d = 0; d < kDim / 16; ++d) {
    const uint32_t chunk = ((2 * d + lane / 16) ^ (lane % 8)) * 16;
    float sums[2][4] = {};
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k) {
      const uint4 value = load_transposed(base + 16 * k * Size::row_bytes + chunk);
#pragma unroll
      for (int term = 0; term < Size::terms; ++term) {
        Mma<kKv>::multiply(sums[0], weights[term][k], value.x, value.y);
        Mma<kKv>::multiply(sums[1], weights[term][k], value.z, value.w);
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float& total = state.total[2 * d + i / 4][i % 4];
      total = fmaf(total, shrink[i / 2 % 2], sums[i / 4][i % 4]);
    }
  }
}

template <int kDim>
__device__ void write_rows(const Attention::Args& args, const RowTile& tile, int first_row, int group,
                           int kv_head, const State<kDim>& state) {
  const auto head_dim = static_cast<int>(args.problem.head_dim);
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + g + 8 * half;
    const float sum = sum_of_quad(state.softmax.sum[half]);
    if (row >= tile.rows) continue;
    float* dst = args.dst + element_of(tile, row, group, kv_head, head_dim, args.dst_stride);
    const float whole = sum == 0 ? 1.0F : sum;
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n) {
      if (8 * n >= head_dim) break;
      dst[8 * n + 2 * c] = state.total[n][2 * half] / whole;
      dst[8 * n + 2 * c + 1] = state.total[n][2 * half + 1] / whole;
    }
  }
}

template <DType kKv, int kDim, int kKeys>
__global__ void __launch_bounds__(kThreads, kDim > 128 ? 1 : 2)
    attend(Attention::Args args, Logit logit, int least) {
  using Size = Sizes<kKv, kDim, kKeys>;
  extern __shared__ uint4 shared[];
  const auto keys = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t values = keys + 2 * Size::tile_bytes;
  uint4* queries = shared + 4 * Size::tile_bytes / 16 + threadIdx.x % 32 +
                   threadIdx.x / 32 * (Size::queries_in_registers ? 0 : Size::terms * Size::fragments * 32);
  auto* offsets = reinterpret_cast<size_t*>(shared + (4 * Size::tile_bytes + Size::query_bytes) / 16);

  pdl_wait();
  const Attention::Problem& problem = args.problem;
  const auto group = static_cast<int>(problem.heads / problem.kv_heads);
  const auto head_dim = static_cast<int>(problem.head_dim);
  const int kv_head = blockIdx.y;
  const RowTile tile = find_tile(args.ragged, group, kRows, blockIdx.x, least);
  if (tile.sequence < 0) return;

  const TileKeys seen = TileKeys::of(problem, tile, kRows, group);
  const KvPages pages(args, tile.sequence, kv_head, {seen.begin, seen.end});
  const int start = seen.begin / kKeys * kKeys;
  const int count = seen.end > seen.begin ? (seen.end - start + kKeys - 1) / kKeys : 0;

  // The first tile is copied, and the second's rows are looked up, while queries are split.
  const auto look_up = [&](int t) {
    if (threadIdx.x >= kKeys) return;
    const int position = start + t * kKeys + threadIdx.x;
    offsets[t % 2 * kKeys + threadIdx.x] = pages.sees(position) ? pages.offset(position) : kNowhere;
  };
  const auto copy = [&](int t) {
    copy_tile<kDim, kKeys>(pages, offsets + t % 2 * kKeys, keys + t % 2 * Size::tile_bytes,
                           values + t % 2 * Size::tile_bytes);
  };
  look_up(0);
  __syncthreads();
  copy(0);
  look_up(1);

  const int first_row = tile.first_row + threadIdx.x / 32 * 16;
  QueryRows rows = QueryRows::of(args, tile, first_row, group, kv_head, logit.scale);
  uint4 kept[Size::queries_in_registers ? Size::terms * Size::fragments : 1];
  split_queries<kKv, kDim>(rows, head_dim, [&](int term, int f, const uint4& fragment) {
    if constexpr (Size::queries_in_registers)
      kept[term * Size::fragments + f] = fragment;
    else
      queries[(term * Size::fragments + f) * 32] = fragment;  // read by the same lane
  });
  const auto query = [&](int term, int f) {
    if constexpr (Size::queries_in_registers)
      return kept[term * Size::fragments + f];
    else
      return queries[(term * Size::fragments + f) * 32];
  };

  State<kDim> state;
  for (int t = 0; t < count; ++t) {
    wait_for_copies();
    __syncthreads();  // this tile is there; the one before is done with, and so are the rows of this one
    if (t + 1 < count) copy(t + 1);
    look_up(t + 2);
    const int first = start + t * kKeys;
    float scores[kKeys / 8][4];
    multiply_keys<kKv, kDim, kKeys>(keys + t % 2 * Size::tile_bytes, query, scores);
    float shrink[2];
    finish_scores(rows, first, seen.need_mask(first, kKeys), logit.cap, scores);
    soften(scores, state.softmax, shrink);
    add_values<kKv, kDim, kKeys>(values + t % 2 * Size::tile_bytes, scores, shrink, state);
  }
  wait_for_copies();  // without a tile, the first copy is still under way
  write_rows<kDim>(args, tile, first_row, group, kv_head, state);
}

}  // namespace orrery::kernels::cuda::tiles
