// Attention of single queries over f16 or bf16 pages (flash decoding,
// https://pytorch.org/blog/flash-decoding):
//   dst = sum_j w_j value_j / sum_j w_j      w_j = exp(cap(scale * query . key_j) - largest so far)
//   query, dst (tokens, heads * head_dim) f32; head_dim a multiple of 8, at most kDim; pages 16-byte aligned
//   A cluster of up to 16 blocks owns one token and up to 16 query heads that share a kv head. Its keys, in
//   units of 32 (of large heads 16) at multiples of that, are dealt in order to up to 64 slots; a warp owns a
//   slot at a time, four slots are a group, and block r owns groups r, r + blocks, ... Where there are no
//   clusters, or more of them than the card has room for at a time, a block owns one group, leaves it in the
//   workspace, and a second kernel joins them. How keys are dealt depends on the keys a query sees alone, and
//   what is summed in which order too, so no result depends on the number of blocks or on other sequences.
//   Products are m16n8k16, rows 0 to 7 the first terms of 8 heads, rows 8 to 15 the second ones
//   (attention_mma.cuh), so that a lane has all terms of its head and adds them itself; a set is 8 heads.
//   Keys and values come by way of shared memory (attention_decode_copies.cuh), a warp's own. A fragment's
//   elements are read 16 bytes at a time, as the order of the elements within a product, and of a result's
//   columns, is chosen so that a lane's 8 elements are its own:
//     key:    product 2 b + i of the b-th 32 elements: lane (g, c) has elements 32 b + 8 c + 4 i ..
//     value:  column n of tile t of the B-th 64 elements is element 64 B + 8 n + t
//   Shared memory: the queries as fragments; a ring of copies a warp, where its slot's totals go at the end;
//   totals, maxima and sums of the block's groups, which the other blocks of the cluster read when each makes
//   its share of the result.
//   Bytes moved: keys and values that are seen, once per 16 query heads.
#pragma once

#include <cooperative_groups.h>

#include "kernels/cuda/attention_decode_copies.cuh"
#include "kernels/cuda/attention_mma.cuh"
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"

namespace orrery::kernels::cuda::decode {

constexpr int kThreads = 128, kWarps = 4;
constexpr int kRows = kTokenHeads;
constexpr int kSetRows = 8;
constexpr int kGroups = 16;  // of kWarps slots each

template <int kDim>
constexpr int kFragments = kDim / 16;  // products of one query . key
/// Fragments of two terms each that a factor has.
template <DType kKv>
constexpr int kPairs = (Mma<kKv>::terms + 1) / 2;

/// Floats of what the four slots of a group come to, and of a group.
template <int kDim>
__host__ __device__ constexpr int slots_floats(int rows) {
  return kWarps * rows * (kDim + 2);
}
template <int kDim>
__host__ __device__ constexpr int group_floats(int rows) {
  return rows * (kDim + 2);
}

/// Of a set of heads.
template <DType kKv, int kDim>
constexpr int kQueryWords = kPairs<kKv>* kFragments<kDim>* kWarp;

/// Of the rings, or of slots where those take more.
template <int kDim>
__host__ __device__ constexpr size_t ring_bytes(int rows) {
  const size_t rings = static_cast<size_t>(kWarps) * Ring<kDim>::kAhead * Ring<kDim>::kBytes;
  const size_t slots = sizeof(float) * slots_floats<kDim>(rows);
  return rings > slots ? rings : slots;
}

/// Of a block that keeps so many groups.
template <DType kKv, int kDim>
constexpr size_t shared_bytes(int rows, int groups) {
  const int sets = (rows + kSetRows - 1) / kSetRows;
  return sizeof(uint4) * sets * kQueryWords<kKv, kDim> + sizeof(float) * kRows + ring_bytes<kDim>(rows) +
         sizeof(float) * static_cast<size_t>(groups) * group_floats<kDim>(rows);
}

/// What a warp has of its slot and a set of heads. Lane (g, c) has row g.
template <int kDim>
struct State {
  float largest = -INFINITY;
  float sum = 0;                      // the lane's part
  float total[kDim / 64][8][2] = {};  // tile t of 64 elements
};

__device__ inline uint32_t word_of(const uint4& x, int i) {
  return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w;
}

/// The next two terms of a head's four elements, as a fragment; what is left of them.
template <DType kKv>
__device__ uint4 take_pair(float (&low)[2], float (&high)[2], int pair) {
  uint4 fragment = make_uint4(0, 0, 0, 0);
  fragment.x = Mma<kKv>::take(low[0], low[1]);
  fragment.z = Mma<kKv>::take(high[0], high[1]);
  if (2 * pair + 1 < Mma<kKv>::terms) {
    fragment.y = Mma<kKv>::take(low[0], low[1]);
    fragment.w = Mma<kKv>::take(high[0], high[1]);
  }
  return fragment;
}

/// Scores of a set of heads and a unit: of keys 8 j + 2 c and 8 j + 2 c + 1.
template <int kDim>
using Scores = float[kUnit<kDim> / 8][2];

/// Products of a set's queries with a unit's keys.
template <DType kKv, int kDim>
__device__ void multiply_keys(const uint4* queries, const uint4* keys, Scores<kDim>& scores) {
  constexpr int kEights = kUnit<kDim> / 8;
  const int g = threadIdx.x % kWarp / 4, c = threadIdx.x % 4;
  float sums[kPairs<kKv>][kEights][4] = {};
#pragma unroll
  for (int b = 0; b < kDim / 32; ++b) {
    uint4 key[kEights];
#pragma unroll
    for (int j = 0; j < kEights; ++j) key[j] = keys[(8 * j + g) * kChunks<kDim> + KeyOrder::of(g, 4 * b + c)];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int pair = 0; pair < kPairs<kKv>; ++pair) {
        const uint4 query = queries[(pair * kFragments<kDim> + 2 * b + i) * kWarp + threadIdx.x % kWarp];
#pragma unroll
        for (int j = 0; j < kEights; ++j)
          Mma<kKv>::multiply(sums[pair][j], query, word_of(key[j], 2 * i), word_of(key[j], 2 * i + 1));
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kEights; ++j) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float score = 0;  // the least terms first
#pragma unroll
      for (int pair = kPairs<kKv> - 1; pair >= 0; --pair)
        score = score + sums[pair][j][2 + k] + sums[pair][j][k];
      scores[j][k] = score;
    }
  }
}

/// Turns the scores of a unit, whose first key is `first`, into weights. Returns what the totals so far are
/// worth.
template <int kDim>
__device__ float soften(const KvPages& pages, int first, const Logit& logit, float back, Scores<kDim>& scores,
                        State<kDim>& state) {
  constexpr int kEights = kUnit<kDim> / 8;
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < kEights; ++j) scores[j][0] *= logit.scale * back, scores[j][1] *= logit.scale * back;
  if (logit.cap > 0) {
#pragma unroll
    for (int i = 0; i < 2 * kEights; ++i) scores[i / 2][i % 2] = logit.cap * tanhf(scores[i / 2][i % 2]);
  }
  if (!pages.sees_all(first, kUnit<kDim>)) {
#pragma unroll
    for (int i = 0; i < 2 * kEights; ++i) {
      if (!pages.sees(first + 8 * (i / 2) + 2 * c + i % 2)) scores[i / 2][i % 2] = -INFINITY;
    }
  }
  float most = state.largest;
#pragma unroll
  for (int j = 0; j < kEights; ++j) most = fmaxf(most, fmaxf(scores[j][0], scores[j][1]));
  most = largest_of_quad(most);
  const float shift = shift_of(most), shrink = power_of_two(state.largest - shift);
  state.largest = most;
  float sums[2] = {};
#pragma unroll
  for (int i = 0; i < 2 * kEights; ++i) {
    float& score = scores[i / 2][i % 2];
    score = power_of_two(score - shift);
    sums[i % 2] += score;
  }
  state.sum = fmaf(state.sum, shrink, sums[0] + sums[1]);
  return shrink;
}

/// Weights become what is left of them.
template <DType kKv, int kDim>
__device__ void add_values(Scores<kDim>& weights, float shrink, const uint4* values, State<kDim>& state) {
  constexpr int kSteps = kUnit<kDim> / 16;
  const int g = threadIdx.x % kWarp / 4, c = threadIdx.x % 4;
  uint4 pairs[kPairs<kKv>][kSteps];
#pragma unroll
  for (int pair = 0; pair < kPairs<kKv>; ++pair) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      pairs[pair][i] = take_pair<kKv>(weights[2 * i], weights[2 * i + 1], pair);
  }
#pragma unroll
  for (int b = 0; b < kDim / 64; ++b) {
    uint4 value[kSteps][4];
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) {
      const int row = 8 * (i / 2) + 2 * c + i % 2;
      value[i / 4][i % 4] = values[row * kChunks<kDim> + ValueOrder::of(row, 8 * b + g)];
    }
#pragma unroll
    for (int t = 0; t < 8; ++t) {
      const uint32_t halves = t % 2 == 0 ? 0x5410U : 0x7632U;
      float sum[4] = {};  // the least terms first
#pragma unroll
      for (int pair = kPairs<kKv> - 1; pair >= 0; --pair) {
#pragma unroll
        for (int i = 0; i < kSteps; ++i) {
          const uint4(&keys)[4] = value[i];
          Mma<kKv>::multiply(sum, pairs[pair][i],
                             __byte_perm(word_of(keys[0], t / 2), word_of(keys[1], t / 2), halves),
                             __byte_perm(word_of(keys[2], t / 2), word_of(keys[3], t / 2), halves));
        }
      }
      float(&total)[2] = state.total[b][t];
#pragma unroll
      for (int k = 0; k < 2; ++k) total[k] = fmaf(total[k], shrink, sum[2 + k] + sum[k]);
    }
  }
}

/// Runs over the units of a slot, whose copies have been started.
template <DType kKv, int kDim, int kSets>
__device__ void run_slot(const KvPages& pages, Slot slot, Copies<kDim>& copies, const uint4* queries,
                         const Logit& logit, const float (&back)[kSets], State<kDim> (&states)[kSets]) {
  for (; slot.unit < slot.last; ++slot.unit) {
    Scores<kDim> scores[kSets];
    float shrink[kSets];
    const uint4* keys = copies.arrived();
#pragma unroll
    for (int set = 0; set < kSets; ++set)
      multiply_keys<kKv, kDim>(queries + set * kQueryWords<kKv, kDim>, keys, scores[set]);
    copies.bring_keys(pages);
#pragma unroll
    for (int set = 0; set < kSets; ++set)
      shrink[set] = soften<kDim>(pages, slot.unit * kUnit<kDim>, logit, back[set], scores[set], states[set]);
    const uint4* values = copies.arrived();
#pragma unroll
    for (int set = 0; set < kSets; ++set)
      add_values<kKv, kDim>(scores[set], shrink[set], values, states[set]);
    copies.bring_values(pages);
  }
}

/// What the slots of a group come to: totals [kWarps][rows][kDim], maxima and sums [kWarps][rows].
template <int kDim>
struct Slots {
  float* at;
  int rows;

  __device__ float* total(int warp, int row) const { return at + (warp * rows + row) * kDim; }
  __device__ float& largest(int warp, int row) const { return at[kWarps * rows * kDim + warp * rows + row]; }
  __device__ float& sum(int warp, int row) const {
    return at[kWarps * rows * (kDim + 1) + warp * rows + row];
  }
};

/// What a group comes to: totals [rows][kDim], maxima [rows], sums [rows].
template <int kDim>
struct Group {
  float* at;
  int rows;

  __device__ float* total(int row) const { return at + row * kDim; }
  __device__ float& largest(int row) const { return at[rows * kDim + row]; }
  __device__ float& sum(int row) const { return at[rows * (kDim + 1) + row]; }
};

template <int kDim>
__device__ void keep(const State<kDim>& state, int row, const Slots<kDim>& slots) {
  const int c = threadIdx.x % 4, warp = threadIdx.x / kWarp;
  const float sum = sum_of_quad(state.sum);
  if (row >= slots.rows) return;
  if (c == 0) {
    slots.largest(warp, row) = state.largest;
    slots.sum(warp, row) = sum;
  }
  float* total = slots.total(warp, row);
#pragma unroll
  for (int i = 0; i < kDim / 64 * 2; ++i) {  // the lane's runs of 8 elements
    const auto& tiles = state.total[i / 2];
    const int k = i % 2;
    float4* to = reinterpret_cast<float4*>(total + 64 * (i / 2) + 8 * (2 * c + k));
    to[0] = make_float4(tiles[0][k], tiles[1][k], tiles[2][k], tiles[3][k]);
    to[1] = make_float4(tiles[4][k], tiles[5][k], tiles[6][k], tiles[7][k]);
  }
}

/// The four slots become a group.
template <int kDim>
__device__ void merge_warps(const Slots<kDim>& slots, const Group<kDim>& group) {
  for (int i = threadIdx.x; i < slots.rows * kDim; i += kThreads) {
    const int row = i / kDim, d = i % kDim;
    float most = -INFINITY;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) most = fmaxf(most, slots.largest(w, row));
    const float shift = shift_of(most);
    float total = 0, sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float worth = exp2f(slots.largest(w, row) - shift);
      total = fmaf(worth, slots.total(w, row)[d], total);
      sum = fmaf(worth, slots.sum(w, row), sum);
    }
    group.total(row)[d] = total;
    if (d == 0) {
      group.largest(row) = most;
      group.sum(row) = sum;
    }
  }
}

/// A warp's rows of the queries, which are asked for before keys are and looked at afterwards.
template <int kDim, int kSets>
struct QueryRows {
  static constexpr int kEach = kSets * kSetRows / kWarps;
  float at[kEach][kDim / kWarp];

  __device__ QueryRows(const float* query, int rows, int head_dim) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int row = row_of(i);
#pragma unroll
      for (int k = 0; k < kDim / kWarp; ++k) {
        const int d = kWarp * k + static_cast<int>(threadIdx.x) % kWarp;
        at[i][k] = row < rows && d < head_dim ? query[row * head_dim + d] : 0.0F;
      }
    }
  }
  static __device__ int row_of(int i) { return kWarps * i + static_cast<int>(threadIdx.x) / kWarp; }
  /// What takes each row back to what it was.
  __device__ void keep_scales(float* back) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      float most = 0;
#pragma unroll
      for (int k = 0; k < kDim / kWarp; ++k) most = fmaxf(most, fabsf(at[i][k]));
      back[row_of(i)] = RowScale::of(warp_reduce(most, Larger{})).back;
    }
  }
};

/// The queries as fragments in shared memory, split into terms, rows scaled; rows beyond `rows` are zero.
template <DType kKv, int kDim, int kSets>
__device__ void split_queries(const float* query, int rows, int head_dim, const float* back, uint4* queries) {
  const int lane = threadIdx.x % kWarp, g = lane / 4, c = lane % 4;
  for (int i = threadIdx.x / kWarp; i < kSets * kFragments<kDim>; i += kWarps) {
    const int f = i % kFragments<kDim>, row = i / kFragments<kDim> * kSetRows + g;
    const int first = 32 * (f / 2) + 8 * c + 4 * (f % 2);
    float x[2][2];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int d = first + k;
      x[k / 2][k % 2] =
          row < rows && d < head_dim ? query[row * head_dim + d] * RowScale::of(back[row]).to : 0.0F;
    }
    uint4* fragment = queries + i / kFragments<kDim> * kQueryWords<kKv, kDim> + f * kWarp + lane;
#pragma unroll
    for (int pair = 0; pair < kPairs<kKv>; ++pair)
      fragment[pair * kFragments<kDim> * kWarp] = take_pair<kKv>(x[0], x[1], pair);
  }
}

/// One element of a row out of all groups.
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

/// Groups that the keys of whole units are dealt to; a slot has 32 keys at least.
__host__ __device__ constexpr int groups_of(int keys) {
  constexpr int kLeast = 32 * kWarps;
  const int groups = (keys + kLeast - 1) / kLeast;
  return groups < kGroups ? groups : kGroups;
}

/// The keys that a token sees, dealt out.
template <int kDim>
struct Deal {
  KvPages pages;
  int first_unit, units, active, share;  // active: groups that have any; share: units of a slot

  __device__ Deal(const Attention::Args& args, const Owned& owned, int kv_head)
      : pages(args, owned.sequence, kv_head, visible_keys(args.problem, owned.position, owned.length)) {
    first_unit = pages.begin / kUnit<kDim>;
    units = pages.end > pages.begin ? (pages.end - 1) / kUnit<kDim> + 1 - first_unit : 0;
    active = groups_of(units * kUnit<kDim>);
    share = active == 0 ? 0 : (units + active * kWarps - 1) / (active * kWarps);
  }
  /// The warp's of group k; none where there is no such group.
  __device__ Slot slot(int k) const {
    const int begin = min(units, (k * kWarps + static_cast<int>(threadIdx.x) / kWarp) * share);
    return {first_unit + begin, first_unit + min(units, begin + share)};
  }
};

/// The block's shared memory.
template <DType kKv, int kDim>
struct Memory {
  uint4* queries;
  float* back;
  uint4* rings;  // or slots
  float* groups;

  __device__ Memory(uint4* shared, int sets, int rows)
      : queries(shared),
        back(reinterpret_cast<float*>(shared + sets * kQueryWords<kKv, kDim>)),
        rings(reinterpret_cast<uint4*>(back + kRows)),
        groups(reinterpret_cast<float*>(rings) + ring_bytes<kDim>(rows) / sizeof(float)) {}
};

/// A block's groups, k = first, first + step, ... of a token's, each left where group_of(k) is.
template <int kSets, DType kKv, int kDim, class GroupOf>
__device__ void attend_groups(const Attention::Args& args, const Owned& owned, const TokenHeads& heads,
                              const Deal<kDim>& deal, int first, int step, const Memory<kKv, kDim>& memory,
                              const Logit& logit, GroupOf&& group_of) {
  const float* query = args.query + owned.token * args.query_stride + heads.column;
  const auto head_dim = static_cast<int>(args.problem.head_dim);
  const QueryRows<kDim, kSets> rows(query, heads.rows, head_dim);
  Copies<kDim> copies(memory.rings);
  copies.start(deal.pages, deal.slot(first));
  rows.keep_scales(memory.back);
  __syncthreads();
  split_queries<kKv, kDim, kSets>(query, heads.rows, head_dim, memory.back, memory.queries);
  __syncthreads();
  const int g = threadIdx.x % kWarp / 4;
  float back[kSets];
#pragma unroll
  for (int set = 0; set < kSets; ++set) back[set] = memory.back[kSetRows * set + g];
  const Slots<kDim> slots{reinterpret_cast<float*>(memory.rings), heads.rows};
  for (int k = first; k < deal.active; k += step) {
    State<kDim> states[kSets];
    run_slot<kKv, kDim>(deal.pages, deal.slot(k), copies, memory.queries, logit, back, states);
    __syncthreads();  // the rings are the slots' now
#pragma unroll
    for (int set = 0; set < kSets; ++set) keep<kDim>(states[set], kSetRows * set + g, slots);
    __syncthreads();
    merge_warps<kDim>(slots, group_of(k));
    if (k + step >= deal.active) return;
    __syncthreads();
    copies.start(deal.pages, deal.slot(k + step));
  }
}

/// Blocks (rank, token or sequence, kv head and 16 of its query heads). `by_sequence`: sequences that bring
/// one token; all others are left alone.
template <DType kKv, int kDim, int kSets>
__device__ void attend_cluster(const Attention::Args& args, const Logit& logit, bool by_sequence) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ uint4 shared[];
  const TokenHeads heads(args.problem, static_cast<int>(blockIdx.z));
  const Memory<kKv, kDim> memory(shared, kSets, heads.rows);

  pdl_wait();
  if (gridDim.x * gridDim.y * gridDim.z <= kOneWave) pdl_trigger();
  const Owned owned = owned_token(args.ragged, blockIdx.y, by_sequence);
  if (owned.token < 0) return;  // all blocks of the cluster

  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const auto blocks = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
  const Deal<kDim> deal(args, owned, heads.kv_head);
  const auto own = [&](int k) {
    return Group<kDim>{memory.groups + k / blocks * group_floats<kDim>(heads.rows), heads.rows};
  };
  attend_groups<kSets>(args, owned, heads, deal, rank, blocks, memory, logit, own);
  cluster.sync();
  // Each block makes its share of the rows' elements out of all groups.
  float* dst = args.dst + owned.token * args.dst_stride + heads.column;
  const int share = (heads.rows * kDim + blocks - 1) / blocks;
  const int end = min((rank + 1) * share, heads.rows * kDim);
  const auto head_dim = static_cast<int>(args.problem.head_dim);
  for (int i = rank * share + threadIdx.x; i < end; i += kThreads) {
    const int row = i / kDim, d = i % kDim;
    const float x = merged(deal.active, row, d, [&](int k) {
      return Group<kDim>{cluster.map_shared_rank(own(k).at, k % blocks), heads.rows};
    });
    if (d < head_dim) dst[row * head_dim + d] = x;
  }
  cluster.sync();  // the others read this block's memory
#endif
}

template <DType kKv, int kDim, int kSets>
__global__ void __launch_bounds__(kThreads, 2) attend(Attention::Args args, Logit logit, bool by_sequence) {
  attend_cluster<kKv, kDim, kSets>(args, logit, by_sequence);
}

// ---- without clusters ----

/// Of the block's token and heads, in the workspace; all groups have the room of kRows rows or of the
/// problem's if fewer.
template <int kDim>
__device__ inline Group<kDim> group_at(float* groups, int room, int rows, int k) {
  const size_t query = static_cast<size_t>(blockIdx.y) * gridDim.z + blockIdx.z;
  return {groups + (query * kGroups + k) * group_floats<kDim>(room), rows};
}

/// Block (group, token or sequence from `first` on, kv head and 16 of its query heads).
template <DType kKv, int kDim, int kSets>
__global__ void __launch_bounds__(kThreads, 2)
    attend_group(Attention::Args args, Logit logit, bool by_sequence, int first, int room, float* groups) {
  extern __shared__ uint4 shared[];
  const TokenHeads heads(args.problem, static_cast<int>(blockIdx.z));
  const Memory<kKv, kDim> memory(shared, kSets, heads.rows);
  pdl_wait();
  if (gridDim.x * gridDim.y * gridDim.z <= kOneWave) pdl_trigger();
  const Owned owned = owned_token(args.ragged, first + static_cast<int>(blockIdx.y), by_sequence);
  if (owned.token < 0) return;
  const Deal<kDim> deal(args, owned, heads.kv_head);
  if (static_cast<int>(blockIdx.x) >= deal.active) return;
  attend_groups<kSets>(args, owned, heads, deal, static_cast<int>(blockIdx.x), kGroups, memory, logit,
                       [&](int k) { return group_at<kDim>(groups, room, heads.rows, k); });
}

/// Block (kThreads elements, token or sequence from `first` on, kv head and 16 of its query heads).
template <int kDim>
__global__ void __launch_bounds__(kThreads)
    join_groups(Attention::Args args, bool by_sequence, int first, int room, float* groups) {
  const TokenHeads heads(args.problem, static_cast<int>(blockIdx.z));
  const auto head_dim = static_cast<int>(args.problem.head_dim);
  // The kernel before has waited for all others, which is enough for what is not its own.
  const Owned owned = owned_token(args.ragged, first + static_cast<int>(blockIdx.y), by_sequence);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int row = i / kDim, d = i % kDim;
  const bool is_there = owned.token >= 0 && row < heads.rows && d < head_dim;
  const Deal<kDim> deal(args, owned, heads.kv_head);
  pdl_wait();
  if (!is_there) return;
  args.dst[owned.token * args.dst_stride + heads.column + row * head_dim + d] =
      merged(deal.active, row, d, [&](int k) { return group_at<kDim>(groups, room, heads.rows, k); });
}

}  // namespace orrery::kernels::cuda::decode
