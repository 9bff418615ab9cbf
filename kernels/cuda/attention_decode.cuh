// Attention of single queries over f16 or bf16 pages (flash decoding,
// https://pytorch.org/blog/flash-decoding):
//   dst = sum_j w_j value_j / sum_j w_j      w_j = exp(cap(scale * query . key_j) - largest so far)
//   query, dst (tokens, heads * head_dim) f32; head_dim a multiple of 8, at most kDim; pages 16-byte aligned
//   A cluster of up to 16 blocks owns one token and up to 16 query heads that share a kv head: the rows of an
//   m16n8k16 product. Its keys, in units of 16 at multiples of 16, are dealt in order to up to 64 slots; a
//   warp owns a slot at a time, four slots are a group, and block r owns groups r, r + blocks, ... Where
//   there are no clusters a block owns one group, leaves it in the workspace, and a second kernel joins them.
//   How keys are dealt depends on the keys a query sees alone, and what is summed in which order too, so no
//   result depends on the number of blocks or on other sequences.
//   Keys and values go from pages to fragments by 16-byte loads, without shared memory: the order of the
//   elements within a product, and of a result's columns, is chosen so that a lane's 8 elements are its own.
//     key:    product 2 b + i of the b-th 32 elements: lane (g, c) has elements 32 b + 8 c + 4 i ..
//     value:  column n of tile t of the B-th 64 elements is element 64 B + 8 n + t
//   Shared memory: the queries as fragments; maxima, sums and totals of the block's groups, which the other
//   blocks of the cluster read at the end, when each makes its share of the result.
//   Bytes moved: keys and values that are seen, once per 16 query heads.
#pragma once

#include <cooperative_groups.h>

#include "kernels/cuda/attention_mma.cuh"
#include "kernels/cuda/device/one_wave.cuh"

namespace orrery::kernels::cuda::decode {

constexpr int kThreads = 128, kWarps = 4;
constexpr int kRows = kTokenHeads;
constexpr int kUnit = 16;    // keys
constexpr int kGroups = 16;  // of kWarps slots each

template <int kDim>
constexpr int kFragments = kDim / 16;  // products of one query . key

/// Floats of one group: totals, maxima and sums of its warps, then the group's maxima and sums.
template <int kDim>
__host__ __device__ constexpr int group_floats(int rows) {
  return (kWarps * rows * (kDim + 2) + 2 * rows + 3) / 4 * 4;
}

template <DType kKv, int kDim>
constexpr size_t kQueryBytes = sizeof(uint4) * Mma<kKv>::terms* kFragments<kDim> * 32;

template <DType kKv, int kDim>
constexpr size_t shared_bytes(int rows, int blocks) {
  return kQueryBytes<kKv, kDim> +
         sizeof(float) * (kRows + static_cast<size_t>(kGroups / blocks) * group_floats<kDim>(rows));
}

/// The keys and values of one sequence and kv head.
struct Pages {
  const std::byte* key;
  size_t value, stride;  // bytes from key to value, from page to page
  const int32_t* table;
  int tokens, row_bytes, head_dim;
  int begin, end;  // keys that are seen
  bool whole;      // a unit lies in one page

  __device__ Pages(const Attention::Args& args, int sequence, int kv_head, const KeyRange& seen)
      : stride(args.kv.page_stride),
        table(args.ragged.page_table + sequence * args.ragged.max_pages),
        tokens(static_cast<int>(args.kv.page_tokens)),
        row_bytes(static_cast<int>(args.problem.head_dim) * 2),
        head_dim(static_cast<int>(args.problem.head_dim)),
        begin(seen.begin),
        end(seen.end),
        whole(tokens % kUnit == 0) {
    const size_t head = static_cast<size_t>(tokens) * row_bytes;
    key = args.kv.base + kv_head * head;
    value = args.kv.kv_heads * head;
  }
  __device__ size_t offset(int position) const {
    const int page = position / tokens;
    return static_cast<size_t>(table[page]) * stride +
           static_cast<size_t>(position - page * tokens) * row_bytes;
  }
  __device__ bool sees(int position) const { return position >= begin && position < end; }
};

__device__ inline uint4 load_once(const std::byte* from, bool there) {
  uint4 x = make_uint4(0, 0, 0, 0);
  if (there)
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "l"(from));
  return x;
}

/// Elements [first, first + kPart) of the keys of a unit: keys[j] is key 8 j + g.
template <int kPart>
__device__ void load_keys(const Pages& pages, int unit, int first, uint4 (&keys)[2][kPart / 32]) {
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
  const size_t base = pages.whole ? pages.offset(unit * kUnit) : 0;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int row = 8 * j + g;
    const bool seen = pages.sees(unit * kUnit + row);
    const size_t at =
        pages.whole ? base + row * pages.row_bytes : (seen ? pages.offset(unit * kUnit + row) : 0);
#pragma unroll
    for (int b = 0; b < kPart / 32; ++b) {
      const int d = first + 32 * b + 8 * c;
      keys[j][b] = load_once(pages.key + at + 2 * d, seen && d < pages.head_dim);
    }
  }
}

/// The same of the values: values[i] is key 2 c + i, values[2 + i] is key 8 + 2 c + i.
template <int kPart>
__device__ void load_values(const Pages& pages, int unit, int first, uint4 (&values)[4][kPart / 64]) {
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
  const size_t base = pages.whole ? pages.offset(unit * kUnit) : 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = 8 * (i / 2) + 2 * c + i % 2;
    const bool seen = pages.sees(unit * kUnit + row);
    const size_t at =
        pages.whole ? base + row * pages.row_bytes : (seen ? pages.offset(unit * kUnit + row) : 0);
#pragma unroll
    for (int b = 0; b < kPart / 64; ++b) {
      const int d = first + 64 * b + 8 * g;
      values[i][b] = load_once(pages.key + pages.value + at + 2 * d, seen && d < pages.head_dim);
    }
  }
}

/// What a warp has of its slot. Lane (g, c) has rows g and g + 8.
template <int kDim>
struct State {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};                  // the lane's part
  float total[kDim / 64][8][4] = {};  // tile t of 64 elements
};

__device__ inline uint32_t word_of(const uint4& x, int i) {
  return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w;
}

/// Adds the products of the queries with kPart elements of the keys; a sum for each term.
template <DType kKv, int kDim, int kPart>
__device__ void add_scores(const uint4* queries, int first, const uint4 (&keys)[2][kPart / 32],
                           float (&scores)[Mma<kKv>::terms][2][4]) {
#pragma unroll
  for (int f = 0; f < kPart / 16; ++f) {
#pragma unroll
    for (int term = 0; term < Mma<kKv>::terms; ++term) {
      const uint4 query = queries[(term * kFragments<kDim> + first / 16 + f) * 32 + threadIdx.x % 32];
#pragma unroll
      for (int j = 0; j < 2; ++j)
        Mma<kKv>::multiply(scores[term][j], query, word_of(keys[j][f / 2], f % 2 * 2),
                           word_of(keys[j][f / 2], f % 2 * 2 + 1));
    }
  }
}

/// Turns the scores of a unit into weights; `shrink` is what the totals so far are worth.
template <int kDim>
__device__ void soften(const Pages& pages, int unit, const Logit& logit, const float (&back)[2],
                       float (&scores)[2][4], State<kDim>& state, float (&shrink)[2]) {
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float most = state.largest[half];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& score = scores[i / 2][2 * half + i % 2];
      score = pages.sees(unit * kUnit + 8 * (i / 2) + 2 * c + i % 2) ? logit(score * back[half]) : -INFINITY;
      most = fmaxf(most, score);
    }
    most = largest_of_quad(most);
    const float shift = shift_of(most);
    shrink[half] = exp2f(state.largest[half] - shift);
    state.largest[half] = most;
    float part = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& score = scores[i / 2][2 * half + i % 2];
      score = exp2f(score - shift);
      part += score;
    }
    state.sum[half] = fmaf(state.sum[half], shrink[half], part);
  }
}

template <DType kKv, int kDim, int kPart>
__device__ void add_values(const uint4 (&weights)[Mma<kKv>::terms], const float (&shrink)[2], int first,
                           const uint4 (&values)[4][kPart / 64], State<kDim>& state) {
#pragma unroll
  for (int b = 0; b < kPart / 64; ++b) {
#pragma unroll
    for (int t = 0; t < 8; ++t) {
      const uint32_t halves = t % 2 == 0 ? 0x5410U : 0x7632U;
      const uint32_t b0 = __byte_perm(word_of(values[0][b], t / 2), word_of(values[1][b], t / 2), halves);
      const uint32_t b1 = __byte_perm(word_of(values[2][b], t / 2), word_of(values[3][b], t / 2), halves);
      float sum[4] = {};
#pragma unroll
      for (int term = Mma<kKv>::terms - 1; term >= 0; --term) Mma<kKv>::multiply(sum, weights[term], b0, b1);
      float(&total)[4] = state.total[first / 64 + b][t];
#pragma unroll
      for (int i = 0; i < 4; ++i) total[i] = fmaf(total[i], shrink[i / 2], sum[i]);
    }
  }
}

/// Runs over the units of a slot. Heads of up to 128 elements load the next unit's keys and values while this
/// one's are used; larger ones have no registers left for that.
template <DType kKv, int kDim>
__device__ void run_slot(const Pages& pages, int unit, int last, const uint4* queries, const Logit& logit,
                         const float (&back)[2], State<kDim>& state) {
  constexpr int kTerms = Mma<kKv>::terms;
  constexpr int kPart = kDim > 128 ? 64 : kDim;
  constexpr bool kAhead = kPart == kDim;
  uint4 keys[2][kPart / 32], values[4][kPart / 64];
  if (kAhead && unit < last) {
    load_keys<kPart>(pages, unit, 0, keys);
    load_values<kPart>(pages, unit, 0, values);
  }
  for (; unit < last; ++unit) {
    float scores[kTerms][2][4] = {};
#pragma unroll
    for (int first = 0; first < kDim; first += kPart) {
      if (!kAhead) load_keys<kPart>(pages, unit, first, keys);
      add_scores<kKv, kDim, kPart>(queries, first, keys, scores);
    }
    if (kAhead && unit + 1 < last) load_keys<kPart>(pages, unit + 1, 0, keys);
#pragma unroll
    for (int term = kTerms - 2; term >= 0; --term) {
#pragma unroll
      for (int i = 0; i < 8; ++i) scores[term][i / 4][i % 4] += scores[term + 1][i / 4][i % 4];
    }
    float shrink[2];
    soften<kDim>(pages, unit, logit, back, scores[0], state, shrink);
    uint4 weights[kTerms];
#pragma unroll
    for (int term = 0; term < kTerms; ++term) {
      weights[term].x = Mma<kKv>::take(scores[0][0][0], scores[0][0][1]);
      weights[term].y = Mma<kKv>::take(scores[0][0][2], scores[0][0][3]);
      weights[term].z = Mma<kKv>::take(scores[0][1][0], scores[0][1][1]);
      weights[term].w = Mma<kKv>::take(scores[0][1][2], scores[0][1][3]);
    }
#pragma unroll
    for (int first = 0; first < kDim; first += kPart) {
      if (!kAhead) load_values<kPart>(pages, unit, first, values);
      add_values<kKv, kDim, kPart>(weights, shrink, first, values, state);
    }
    if (kAhead && unit + 1 < last) load_values<kPart>(pages, unit + 1, 0, values);
  }
}

/// A group's memory: totals [kWarps][rows][kDim], maxima and sums [kWarps][rows], the group's [rows] each.
/// Once merged, the group's totals stand where the first warp's stood.
template <int kDim>
struct Group {
  float* at;
  int rows;

  __device__ float* total(int warp, int row) const { return at + (warp * rows + row) * kDim; }
  __device__ float& largest(int warp, int row) const { return at[kWarps * rows * kDim + warp * rows + row]; }
  __device__ float& sum(int warp, int row) const {
    return at[kWarps * rows * (kDim + 1) + warp * rows + row];
  }
  __device__ float& group_largest(int row) const { return at[kWarps * rows * (kDim + 2) + row]; }
  __device__ float& group_sum(int row) const { return at[kWarps * rows * (kDim + 2) + rows + row]; }
};

template <int kDim>
__device__ void keep(const State<kDim>& state, const Group<kDim>& group) {
  const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4, warp = threadIdx.x / 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = g + 8 * half;
    const float sum = sum_of_quad(state.sum[half]);
    if (row >= group.rows) continue;
    if (c == 0) {
      group.largest(warp, row) = state.largest[half];
      group.sum(warp, row) = sum;
    }
    float* total = group.total(warp, row);
#pragma unroll
    for (int i = 0; i < kDim / 64 * 2; ++i) {  // the lane's runs of 8 elements
      const auto& tiles = state.total[i / 2];
      const int e = 2 * half + i % 2;
      float4* to = reinterpret_cast<float4*>(total + 64 * (i / 2) + 8 * (2 * c + i % 2));
      to[0] = make_float4(tiles[0][e], tiles[1][e], tiles[2][e], tiles[3][e]);
      to[1] = make_float4(tiles[4][e], tiles[5][e], tiles[6][e], tiles[7][e]);
    }
  }
}

/// The four slots of a group become one.
template <int kDim>
__device__ void merge_warps(const Group<kDim>& group) {
  for (int i = threadIdx.x; i < group.rows * kDim; i += kThreads) {
    const int row = i / kDim, d = i % kDim;
    float most = -INFINITY;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) most = fmaxf(most, group.largest(w, row));
    const float shift = shift_of(most);
    float total = 0, sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float worth = exp2f(group.largest(w, row) - shift);
      total = fmaf(worth, group.total(w, row)[d], total);
      sum = fmaf(worth, group.sum(w, row), sum);
    }
    group.total(0, row)[d] = total;  // of this element only this thread reads
    if (d == 0) {
      group.group_largest(row) = most;
      group.group_sum(row) = sum;
    }
  }
}

/// The queries as fragments in shared memory, split into terms, rows scaled; rows beyond `rows` are zero.
template <DType kKv, int kDim>
__device__ void load_queries(const float* query, int rows, int head_dim, uint4* queries, float* back) {
  const int lane = threadIdx.x % 32;
  for (int row = threadIdx.x / 32; row < kRows; row += kWarps) {
    float most = 0;
    for (int d = lane; row < rows && d < head_dim; d += 32)
      most = fmaxf(most, fabsf(query[row * head_dim + d]));
    const float value = RowScale::of(largest_of_warp(most)).back;
    if (lane == 0) back[row] = value;
  }
  __syncthreads();
  const int g = lane / 4, c = lane % 4;
  for (int f = threadIdx.x / 32; f < kFragments<kDim>; f += kWarps) {
    float x[8];  // rows g, g + 8, of elements 0, 1; then of elements 2, 3
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = g + 8 * (i / 2 % 2);
      const int d = 32 * (f / 2) + 8 * c + 4 * (f % 2) + 2 * (i / 4) + i % 2;
      x[i] = row < rows && d < head_dim ? query[row * head_dim + d] * RowScale::of(back[row]).to : 0.0F;
    }
#pragma unroll
    for (int term = 0; term < Mma<kKv>::terms; ++term) {
      uint4& fragment = queries[(term * kFragments<kDim> + f) * 32 + lane];
      fragment.x = Mma<kKv>::take(x[0], x[1]);
      fragment.y = Mma<kKv>::take(x[2], x[3]);
      fragment.z = Mma<kKv>::take(x[4], x[5]);
      fragment.w = Mma<kKv>::take(x[6], x[7]);
    }
  }
}

/// One element of a row out of all groups; group_of(k) has total(row), largest(row) and sum(row).
template <class GroupOf>
__device__ inline float merged(int active, int row, int d, GroupOf&& group_of) {
  float largest[kGroups], sums[kGroups], totals[kGroups];
  float most = -INFINITY;
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    largest[k] = -INFINITY, sums[k] = 0, totals[k] = 0;
    if (k >= active) continue;
    const auto group = group_of(k);
    largest[k] = group.largest(row);
    sums[k] = group.sum(row);
    totals[k] = group.total(row)[d];
    most = fmaxf(most, largest[k]);
  }
  const float shift = shift_of(most);
  float total = 0, sum = 0;
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    const float worth = exp2f(largest[k] - shift);
    total = fmaf(worth, totals[k], total);
    sum = fmaf(worth, sums[k], sum);
  }
  return sum == 0 ? 0.0F : total / sum;
}

/// The keys that a token sees, dealt out.
struct Deal {
  Pages pages;
  int first_unit, units, active, share;  // active: groups that have any; share: units of a slot

  __device__ Deal(const Attention::Args& args, const Owned& owned, int kv_head)
      : pages(args, owned.sequence, kv_head, visible_keys(args.problem, owned.position, owned.length)) {
    first_unit = pages.begin / kUnit;
    units = pages.end > pages.begin ? (pages.end - 1) / kUnit + 1 - first_unit : 0;
    active = min(kGroups, (units + kWarps - 1) / kWarps);
    share = active == 0 ? 0 : (units + active * kWarps - 1) / (active * kWarps);
  }
};

/// The warp's slot of group k, left in the group's memory.
template <DType kKv, int kDim>
__device__ void attend_slot(const Deal& deal, int k, const uint4* queries, const float* back,
                            const Logit& logit, const Group<kDim>& group) {
  const int lane = threadIdx.x % 32;
  const float row_back[2] = {back[lane / 4], back[lane / 4 + 8]};
  const int begin = min(deal.units, (k * kWarps + static_cast<int>(threadIdx.x) / 32) * deal.share);
  State<kDim> state;
  run_slot<kKv, kDim>(deal.pages, deal.first_unit + begin,
                      deal.first_unit + min(deal.units, begin + deal.share), queries, logit, row_back, state);
  keep<kDim>(state, group);
}

/// The block's shared memory.
template <DType kKv, int kDim>
struct Memory {
  uint4* queries;
  float *back, *groups;

  __device__ explicit Memory(uint4* shared)
      : queries(shared),
        back(reinterpret_cast<float*>(shared + Mma<kKv>::terms * kFragments<kDim> * 32)),
        groups(back + kRows) {}
};

/// A group in the shared memory of a block of the cluster.
template <int kDim>
struct ClusterGroup {
  Group<kDim> group;
  __device__ float largest(int row) const { return group.group_largest(row); }
  __device__ float sum(int row) const { return group.group_sum(row); }
  __device__ const float* total(int row) const { return group.total(0, row); }
};

/// Blocks (rank, token or sequence, kv head and 16 of its query heads). `by_sequence`: sequences that bring
/// one token; all others are left alone.
template <DType kKv, int kDim>
__device__ void attend_cluster(const Attention::Args& args, const Logit& logit, bool by_sequence) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ uint4 shared[];
  const Memory<kKv, kDim> memory(shared);
  const TokenHeads heads(args.problem, static_cast<int>(blockIdx.z));
  const auto head_dim = static_cast<int>(args.problem.head_dim);

  pdl_wait();
  if (gridDim.x * gridDim.y * gridDim.z <= kOneWave) pdl_trigger();
  const Owned owned = owned_token(args.ragged, blockIdx.y, by_sequence);
  if (owned.token < 0) return;  // all blocks of the cluster
  load_queries<kKv, kDim>(args.query + owned.token * args.query_stride + heads.column, heads.rows, head_dim,
                          memory.queries, memory.back);
  __syncthreads();

  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const auto blocks = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
  const Deal deal(args, owned, heads.kv_head);
  const auto own = [&](int k) {
    return Group<kDim>{memory.groups + static_cast<size_t>(k / blocks) * group_floats<kDim>(heads.rows),
                       heads.rows};
  };
  for (int k = rank; k < deal.active; k += blocks)
    attend_slot<kKv, kDim>(deal, k, memory.queries, memory.back, logit, own(k));
  __syncthreads();
  for (int k = rank; k < deal.active; k += blocks) merge_warps<kDim>(own(k));
  cluster.sync();
  // Each block makes its share of the rows' elements out of all groups.
  float* dst = args.dst + owned.token * args.dst_stride + heads.column;
  const int share = (heads.rows * kDim + blocks - 1) / blocks;
  const int end = min((rank + 1) * share, heads.rows * kDim);
  for (int i = rank * share + threadIdx.x; i < end; i += kThreads) {
    const int row = i / kDim, d = i % kDim;
    const float x = merged(deal.active, row, d, [&](int k) {
      return ClusterGroup<kDim>{{cluster.map_shared_rank(own(k).at, k % blocks), heads.rows}};
    });
    if (d < head_dim) dst[row * head_dim + d] = x;
  }
  cluster.sync();  // the others read this block's memory
#endif
}

template <DType kKv, int kDim>
__global__ void __launch_bounds__(kThreads, 2) attend(Attention::Args args, Logit logit, bool by_sequence) {
  attend_cluster<kKv, kDim>(args, logit, by_sequence);
}

// ---- without clusters ----

/// A group in the workspace: totals [rows][kDim], maxima [rows], sums [rows].
template <int kDim>
struct Part {
  float* at;
  int rows;
  static constexpr __host__ __device__ size_t floats(int rows) {
    return static_cast<size_t>(rows) * (kDim + 2);
  }
  __device__ float* total(int row) const { return at + row * kDim; }
  __device__ float& largest(int row) const { return at[rows * kDim + row]; }
  __device__ float& sum(int row) const { return at[rows * (kDim + 1) + row]; }
};

/// Of the block's token and heads; all groups have the room of kRows rows or of the problem's if fewer.
template <int kDim>
__device__ inline Part<kDim> part_of(float* parts, int room, int rows, int k) {
  const size_t query = static_cast<size_t>(blockIdx.y) * gridDim.z + blockIdx.z;
  return {parts + (query * kGroups + k) * Part<kDim>::floats(room), rows};
}

/// Block (group, token or sequence from `first` on, kv head and 16 of its query heads).
template <DType kKv, int kDim>
__global__ void __launch_bounds__(kThreads, 2)
    attend_group(Attention::Args args, Logit logit, bool by_sequence, int first, int room, float* parts) {
  extern __shared__ uint4 shared[];
  const Memory<kKv, kDim> memory(shared);
  const TokenHeads heads(args.problem, static_cast<int>(blockIdx.z));
  pdl_wait();
  const Owned owned = owned_token(args.ragged, first + static_cast<int>(blockIdx.y), by_sequence);
  if (owned.token < 0) return;
  const Deal deal(args, owned, heads.kv_head);
  const auto k = static_cast<int>(blockIdx.x);
  if (k >= deal.active) return;
  load_queries<kKv, kDim>(args.query + owned.token * args.query_stride + heads.column, heads.rows,
                          static_cast<int>(args.problem.head_dim), memory.queries, memory.back);
  __syncthreads();
  const Group<kDim> group{memory.groups, heads.rows};
  attend_slot<kKv, kDim>(deal, k, memory.queries, memory.back, logit, group);
  __syncthreads();
  merge_warps<kDim>(group);
  __syncthreads();
  const Part<kDim> part = part_of<kDim>(parts, room, heads.rows, k);
  for (int i = threadIdx.x; i < heads.rows * kDim; i += kThreads) part.total(0)[i] = group.total(0, 0)[i];
  for (int row = threadIdx.x; row < heads.rows; row += kThreads) {
    part.largest(row) = group.group_largest(row);
    part.sum(row) = group.group_sum(row);
  }
}

/// Block (1, token or sequence from `first` on, kv head and 16 of its query heads).
template <int kDim>
__global__ void __launch_bounds__(kThreads)
    join_groups(Attention::Args args, bool by_sequence, int first, int room, float* parts) {
  const TokenHeads heads(args.problem, static_cast<int>(blockIdx.z));
  const auto head_dim = static_cast<int>(args.problem.head_dim);
  pdl_wait();
  const Owned owned = owned_token(args.ragged, first + static_cast<int>(blockIdx.y), by_sequence);
  if (owned.token < 0) return;
  const Deal deal(args, owned, heads.kv_head);
  float* dst = args.dst + owned.token * args.dst_stride + heads.column;
  for (int i = threadIdx.x; i < heads.rows * kDim; i += kThreads) {
    const int row = i / kDim, d = i % kDim;
    const float x =
        merged(deal.active, row, d, [&](int k) { return part_of<kDim>(parts, room, heads.rows, k); });
    if (d < head_dim) dst[row * head_dim + d] = x;
  }
}

}  // namespace orrery::kernels::cuda::decode
