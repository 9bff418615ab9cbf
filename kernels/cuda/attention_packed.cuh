// Attention of many queries over packed f32 keys on the tensor cores, operands rounded to TF32 (11 bits of
// f32's range, so nothing overflows), sums in f32 (FlashAttention-2, Dao 2023, arXiv 2307.08691):
//   dst = sum_j w_j value_j / sum_j w_j      w_j = exp(cap(scale * query . key_j) - largest so far)
//   query, dst (tokens, heads * head_dim), key, value (tokens, kv_heads * head_dim) f32; head_dim a multiple
//   of 4, at most kDim; rows 16-byte aligned
//   A block of 4 warps owns 64 rows (token, query head) of one sequence and one kv head and walks over its
//   keys in tiles of 64 (32 for heads above 64 elements) that begin at multiples of that; a row's result
//   depends on its keys alone, not on the rows beside it. A warp owns 16 rows: queries, scores, weights and
//   totals stay in its registers.
//   Products m16n8k8, lane 4 g + c:
//     A: a0 (row g, k c), a1 (g + 8, c), a2 (g, c + 4), a3 (g + 8, c + 4)      B: b0 (k c, column g), b1 (c +
//     4, g) C: c0, c1 (row g, columns 2 c, 2 c + 1), c2, c3 (g + 8)
//   What k and the columns stand for is chosen so that a lane reads 16 bytes at a time:
//     query . key   product 2 j + p of the j-th 16 elements: k c is element 4 c + 2 p, k c + 4 the next one
//     weight value  k c is key 2 c of 8, k c + 4 key 2 c + 1; of the J-th 32 elements, product i has element
//                   4 n + i in column n, so a lane's totals are elements 8 c to 8 c + 7
//   Shared memory: two tiles of keys and two of values, filled by cp.async, both on their way at the start.
//   16-byte chunk i of key row r lies at i ^ 4 (r % 2), of value row r at i ^ 2 (r / 2 % 4): each eight lanes
//   that are served together read all banks.
//   Bytes moved: 4 per element of query and dst; keys and values that are seen, once per 64 rows.
#pragma once

#include "kernels/cuda/attention_rows.cuh"
#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/device/one_wave.cuh"

namespace orrery::kernels::cuda::packed {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kRows = 16 * kWarps;

template <int kDim>
struct Sizes {
  static constexpr int keys = kDim > 64 ? 32 : 64;  // of a tile: as registers and shared memory allow
  static constexpr int chunks = kDim / 4;           // of a row, 16 bytes each
  static constexpr int row_bytes = kDim * 4;
  static constexpr int tile_bytes = keys * row_bytes;
  static constexpr size_t shared_bytes = 4 * tile_bytes;
  static constexpr int blocks = kDim <= 32 ? 4 : kDim <= 96 ? 3 : 2;  // on one multiprocessor
};

__device__ inline uint32_t to_tf32(float x) {
  uint32_t y;
  if constexpr (kHopper)
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  else
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}

__device__ inline void multiply(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// Four elements of shared memory, rounded.
struct Four {
  uint32_t at[4];

  __device__ static Four load(uint32_t from) {
    float x, y, z, w;
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                 : "r"(from)
                 : "memory");
    return {{to_tf32(x), to_tf32(y), to_tf32(z), to_tf32(w)}};
  }
};

/// The keys and values of one sequence and kv head, and how far they are read.
struct Source {
  const float *key, *value;
  int64_t key_stride, value_stride;  // elements
  int end, head_dim;

  __device__ Source(const Attention::Args& args, const RowTile& tile, int kv_head, int end)
      : key_stride(args.key_stride),
        value_stride(args.value_stride),
        end(end),
        head_dim(static_cast<int>(args.problem.head_dim)) {
    const int64_t head = static_cast<int64_t>(kv_head) * head_dim;
    key = args.key + tile.first_token * key_stride + head;
    value = args.value + tile.first_token * value_stride + head;
  }
};

/// Starts to copy the tile of keys and values from `first` on; zeros beyond the last and beyond the head.
template <int kDim>
__device__ void copy_tile(const Source& from, int first, uint32_t keys, uint32_t values) {
  using Size = Sizes<kDim>;
#pragma unroll
  for (int i = 0; i < Size::keys * Size::chunks / kThreads; ++i) {
    const unsigned item = threadIdx.x + i * kThreads;
    const unsigned row = item / Size::chunks, chunk = item % Size::chunks;
    const int position = first + static_cast<int>(row);
    const bool there = position < from.end && static_cast<int>(chunk * 4) < from.head_dim;
    const float* key = from.key + (there ? position * from.key_stride + chunk * 4 : 0);
    const float* value = from.value + (there ? position * from.value_stride + chunk * 4 : 0);
    copy_16(keys + row * Size::row_bytes + (chunk ^ (row % 2 * 4)) * 16, key, there);
    copy_16(values + row * Size::row_bytes + (chunk ^ (row / 2 % 4 * 2)) * 16, value, there);
  }
}

/// A lane's part of the warp's queries: of each 16 elements, 4 c to 4 c + 3 of rows g and g + 8.
template <int kDim>
struct Queries {
  uint32_t row[2][kDim / 16][4];

  __device__ Queries(const QueryRows& rows, int head_dim) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < kDim / 16; ++j) {
        const int d = 16 * j + threadIdx.x % 4 * 4;
        float4 x = {0, 0, 0, 0};
        if (rows.query[half] != nullptr && d < head_dim)
          x = __ldg(reinterpret_cast<const float4*>(rows.query[half] + d));
        row[half][j][0] = to_tf32(x.x), row[half][j][1] = to_tf32(x.y);
        row[half][j][2] = to_tf32(x.z), row[half][j][3] = to_tf32(x.w);
      }
    }
  }
};

/// scores[n] are the warp's products with keys 8 n .. 8 n + 7 of the tile.
template <int kDim>
__device__ void multiply_keys(uint32_t keys, const Queries<kDim>& query,
                              float (&scores)[Sizes<kDim>::keys / 8][4]) {
  using Size = Sizes<kDim>;
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
  constexpr int kAhead = 4;  // keys loaded before they are used: independent products
  const uint32_t base = keys + g * Size::row_bytes;
#pragma unroll
  for (int j = 0; j < kDim / 16; ++j) {
    const uint32_t chunk = ((4 * j + c) ^ (g % 2 * 4)) * 16;
    const auto& low = query.row[0][j];
    const auto& high = query.row[1][j];
#pragma unroll
    for (int first = 0; first < Size::keys / 8; first += kAhead) {
      Four key[kAhead];
#pragma unroll
      for (int n = 0; n < kAhead; ++n) key[n] = Four::load(base + 8 * (first + n) * Size::row_bytes + chunk);
#pragma unroll
      for (int p = 0; p < 4; p += 2) {
#pragma unroll
        for (int n = 0; n < kAhead; ++n)
          multiply(scores[first + n], low[p], high[p], low[p + 1], high[p + 1], key[n].at[p],
                   key[n].at[p + 1]);
      }
    }
  }
}

/// The lane's totals: of each 32 elements, elements 8 c + i (first and third) and 8 c + 4 + i of its two
/// rows.
template <int kDim>
using Totals = float[kDim / 32][4][4];

/// Totals times `shrink`, and the weighted values of a tile added.
template <int kDim>
__device__ void add_values(uint32_t values, const float (&weights)[Sizes<kDim>::keys / 8][4],
                           const float (&shrink)[2], Totals<kDim>& total) {
  using Size = Sizes<kDim>;
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < kDim / 2; ++i) total[i / 16][i / 4 % 4][i % 4] *= shrink[i / 2 % 2];
  const uint32_t base = values + 2 * c * Size::row_bytes;
#pragma unroll
  for (int n = 0; n < Size::keys / 8; ++n) {
    uint32_t a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = to_tf32(weights[n][i]);
#pragma unroll
    for (int block = 0; block < kDim / 32; ++block) {
      const uint32_t at = base + 8 * n * Size::row_bytes + ((8 * block + g) ^ (2 * c)) * 16;
      const Four first = Four::load(at), second = Four::load(at + Size::row_bytes);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        multiply(total[block][i], a[0], a[2], a[1], a[3], first.at[i], second.at[i]);
    }
  }
}

__device__ inline uint2 rounded_four(float4 x) {
  const __nv_bfloat162 low = __floats2bfloat162_rn(x.x, x.y), high = __floats2bfloat162_rn(x.z, x.w);
  return {*reinterpret_cast<const uint32_t*>(&low), *reinterpret_cast<const uint32_t*>(&high)};
}

template <int kDim>
__device__ void write_rows(const Attention::Args& args, const RowTile& tile, int first_row, int group,
                           int kv_head, const Softmax& softmax, const Totals<kDim>& total) {
  const auto head_dim = static_cast<int>(args.problem.head_dim);
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
  const bool rounded = args.problem.dst == DType::bf16;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + g + 8 * half;
    const float sum = sum_of_quad(softmax.sum[half]);
    if (row >= tile.rows) continue;
    const int64_t at = element_of(tile, row, group, kv_head, head_dim, args.dst_stride);
    const float share = sum == 0 ? 0.0F : 1.0F / sum;
#pragma unroll
    for (int block = 0; block < kDim / 32; ++block) {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const int d = 32 * block + 8 * c + 4 * upper, i = 2 * half + upper;
        if (d >= head_dim) continue;
        const auto& x = total[block];
        const float4 four = {x[0][i] * share, x[1][i] * share, x[2][i] * share, x[3][i] * share};
        if (rounded)
          *reinterpret_cast<uint2*>(reinterpret_cast<__nv_bfloat16*>(args.dst) + at + d) = rounded_four(four);
        else
          *reinterpret_cast<float4*>(args.dst + at + d) = four;
      }
    }
  }
}

/// Block (tile, kv head) is tile * kv_heads + kv head: heads that lie side by side are read together.
template <int kDim>
__global__ void __launch_bounds__(kThreads, Sizes<kDim>::blocks) attend(Attention::Args args, Logit logit) {
  using Size = Sizes<kDim>;
  constexpr int kKeys = Size::keys;
  extern __shared__ uint4 shared[];
  const auto keys = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t values = keys + 2 * Size::tile_bytes;

  pdl_wait();
  pdl_trigger_in_one_wave();
  const Attention::Problem& problem = args.problem;
  const auto kv_heads = static_cast<unsigned>(problem.kv_heads);
  const auto group = static_cast<int>(problem.heads / problem.kv_heads);
  const auto kv_head = static_cast<int>(blockIdx.x % kv_heads);
  const RowTile tile = find_tile(args.ragged, group, kRows, static_cast<int>(blockIdx.x / kv_heads));
  if (tile.sequence < 0) return;

  const TileKeys seen = TileKeys::of(problem, tile, kRows, group);
  const Source source(args, tile, kv_head, seen.end);
  const int start = seen.begin / kKeys * kKeys;
  const int count = (seen.end - start + kKeys - 1) / kKeys;
  const auto copy = [&](int t) {
    const uint32_t at = t % 2 * Size::tile_bytes;
    if (t < count) copy_tile<kDim>(source, start + t * kKeys, keys + at, values + at);
    end_of_copies();  // also of none, so that counts of groups agree
  };
  copy(0);
  copy(1);

  const int first_row = tile.first_row + static_cast<int>(threadIdx.x) / 32 * 16;
  const QueryRows rows = QueryRows::of(args, tile, first_row, group, kv_head, logit.scale);
  const Queries<kDim> query(rows, source.head_dim);
  Softmax softmax;
  Totals<kDim> total = {};
  for (int t = 0; t < count; ++t) {
    wait_for_copies<1>();
    __syncthreads();
    const int first = start + t * kKeys;
    const uint32_t at = t % 2 * Size::tile_bytes;
    float scores[kKeys / 8][4] = {};
    multiply_keys<kDim>(keys + at, query, scores);
    finish_scores(rows, first, seen.need_mask(first, kKeys), logit.cap, scores);
    float shrink[2];
    soften(scores, softmax, shrink);
    add_values<kDim>(values + at, scores, shrink, total);
    __syncthreads();  // before the tile is filled anew
    copy(t + 2);
  }
  write_rows<kDim>(args, tile, first_row, group, kv_head, softmax, total);
}

}  // namespace orrery::kernels::cuda::packed
