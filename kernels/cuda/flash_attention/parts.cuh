// Who computes what of attention over tensors (hopper.cuh): units of work, which are tiles of queries of one
// head, or of several that read the same keys, and their parts. Where units do not come out even over the
// blocks, the last ones are cut by their keys into equal shares; so are the units of a call that has fewer
// than there are blocks, such as one query of many keys. What a block makes of a part,
//   totals_i = sum_j 2^(s_ij - largest_i) value_j     sum_i = sum_j 2^(s_ij - largest_i)     (j: its keys)
// it leaves in the workspace, and join_kernel makes out of it, part after part in the order of the keys:
//   m_i = max_p largest_pi
//   out_i = sum_p 2^(largest_pi - m_i) totals_pi / sum_p 2^(largest_pi - m_i) sum_pi
// A warp a row. Bytes moved: totals twice, which the L2 cache mostly still has.
#pragma once

#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::flash {

constexpr int kParts = 1024;  // of a unit: what shares are counted in

/// Units of work go section by section of heads that share the L2 cache. The last tiles of a causal head see
/// most keys: sections walk over the tiles down, up, down, the last one down, so that what follows each other
/// takes about equally long. Blocks take units in rounds, every second one backwards: who had the longest
/// unit of a round has the shortest one of the next. After the rounds all take equal shares of the last
/// units.
struct Schedule {
  int tiles, heads, section;   // heads: of all batches; those that share tiles count as one
  int joined, queries;         // of a tile: heads that share it, queries of each
  int blocks = 0, shared = 0;  // shared: of the units, the last ones

  struct Place {
    int tile, head;
  };
  __device__ Place place(int index) const {
    const int at = index / (section * tiles), first_head = at * section;
    const int rest = index - first_head * tiles, count = min(section, heads - first_head);
    const int level = rest / count, behind = (heads - 1) / section - at;  // sections that follow
    return {behind % 2 != 0 ? level : tiles - 1 - level, first_head + rest % count};
  }
  __device__ int units() const { return tiles * heads; }
  __device__ int in_rounds() const { return units() - shared; }
  /// visit(index) of each unit of which the block takes something.
  template <class Visit>
  __device__ void each(Visit&& visit) const {
    const auto block = static_cast<int>(blockIdx.x);
    const int rounds = (in_rounds() + blocks - 1) / blocks;
    const int first_shared = share(block) / kParts, behind_shared = (share(block + 1) + kParts - 1) / kParts;
    // One loop for both: what visits is large.
    for (int step = 0; step < rounds + behind_shared - first_shared; ++step) {
      const int in_round = step % 2 != 0 ? blocks - 1 - block : block;
      const int index = step < rounds ? step * blocks + in_round : in_rounds() + first_shared + step - rounds;
      if (index < units()) visit(index);
    }
  }

  /// The first part, of all shared units in order, that a block takes.
  __device__ int share(int block) const { return block * shared * kParts / blocks; }
  /// What this block takes of a unit: parts [begin, end).
  struct Share {
    int begin = 0, end = kParts;

    __device__ bool is_whole() const { return begin == 0 && end == kParts; }
  };
  __device__ Share share_of(int index) const {
    if (index < in_rounds()) return {};
    const int block = static_cast<int>(blockIdx.x), unit = (index - in_rounds()) * kParts;
    return {max(share(block) - unit, 0), min(share(block + 1) - unit, kParts)};
  }
  /// Where a block leaves what it makes of a part: it has at most two that are not whole units.
  __device__ int slot(int index, int block) const {
    return 2 * block + static_cast<int>(index - in_rounds() != share(block) / kParts);
  }
  __device__ int slot(int index) const { return slot(index, static_cast<int>(blockIdx.x)); }
};

/// Which query of which head each row of a unit's tile is. Rows go query by query, and for each query head by
/// head. kJoins: a tile may have several heads; without it no division is needed.
template <bool kJoins>
struct UnitRows {
  int batch, first_head, first_query, joined;

  __device__ UnitRows(const FlashAttention::Args& args, const Schedule& schedule, Schedule::Place place)
      : first_query(place.tile * schedule.queries), joined(kJoins ? schedule.joined : 1) {
    const int heads = static_cast<int>(args.problem.heads) / joined;
    batch = place.head / heads, first_head = place.head % heads * joined;
  }
  __device__ int query(int row) const { return first_query + (kJoins ? row / joined : row); }
  __device__ int head(int row) const { return first_head + (kJoins ? row % joined : 0); }
  /// Of log_sum_exp.
  __device__ int64_t index(const FlashAttention::Args& args, int row) const {
    return (static_cast<int64_t>(batch) * args.problem.heads + head(row)) * args.queries + query(row);
  }
  /// Of the row's first element of out.
  __device__ int64_t out_at(const FlashAttention::Args& args, int row) const {
    return batch * args.out_strides.batch + head(row) * args.out_strides.head +
           query(row) * args.out_strides.token;
  }
  /// What so many rows see.
  __device__ SeenKeys seen(const Band& band, int row, int count) const {
    return {band, query(row), query(row + count - 1) - query(row) + 1};
  }
};

/// What blocks leave of parts of units.
struct Parts {
  float* at;
  int rows;  // of a tile, as far as there are queries

  struct Sum {
    float largest, sum;  // largest: in powers of two
  };
  /// Of a slot; totals of all rows, then sums, from a multiple of 16 bytes on.
  __host__ __device__ static constexpr int64_t floats(int64_t rows, int64_t dim) { return rows * (dim + 4); }
  template <int kDim>
  __device__ float* totals(int slot, int row) const {
    return at + slot * floats(rows, kDim) + row * kDim;
  }
  template <int kDim>
  __device__ Sum& sum(int slot, int row) const {
    return reinterpret_cast<Sum*>(totals<kDim>(slot, rows))[row];
  }
};

constexpr int kJoinWarps = 4;

/// Row blockIdx.x kJoinWarps + warp of the shared unit blockIdx.y, where that was cut.
template <DType kType, int kDim>
__global__ void __launch_bounds__(kJoinWarps* kWarp)
    join_kernel(const __grid_constant__ FlashAttention::Args args, const Schedule schedule,
                const Parts parts) {
  constexpr int kEach = kDim / kWarp;
  struct alignas(kEach == 2 ? 8 : 16) Elements {  // of a lane, next to each other
    float at[kEach];
  };
  pdl_wait();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int row = static_cast<int>(blockIdx.x) * kJoinWarps + static_cast<int>(threadIdx.x) / kWarp;
  const auto unit = static_cast<int>(blockIdx.y);
  const int index = schedule.in_rounds() + unit;
  int first = unit * schedule.blocks / schedule.shared;
  while (schedule.share(first + 1) <= unit * kParts) ++first;
  int behind = first + 1;
  while (schedule.share(behind) < (unit + 1) * kParts) ++behind;
  const UnitRows<true> rows(args, schedule, schedule.place(index));
  const int query = rows.query(row);
  if (behind == first + 1 || row >= parts.rows || query >= args.queries) return;

  float most = -INFINITY;
  for (int block = first + lane; block < behind; block += kWarp)
    most = fmaxf(most, parts.sum<kDim>(schedule.slot(index, block), row).largest);
  most = warp_reduce(most, Larger{});
  float sum = 0;
  Elements total = {};
#pragma unroll 8  // parts are read together
  for (int block = first; block < behind; ++block) {
    const int slot = schedule.slot(index, block);
    const Parts::Sum part = parts.sum<kDim>(slot, row);
    const auto more = *reinterpret_cast<const Elements*>(parts.totals<kDim>(slot, row) + kEach * lane);
    const float worth = fast_exp2(part.largest - shift_of(most));
    sum = fmaf(part.sum, worth, sum);
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (part.sum != 0) total.at[i] = fmaf(more.at[i], worth, total.at[i]);  // else nothing was written
  }

  if (query >= Band(args, rows.batch).queries) sum = 0;
  if (lane == 0 && args.log_sum_exp != nullptr)
    args.log_sum_exp[rows.index(args, row)] = log_of_sum(most, sum);
  float none = 0;  // stays so, or becomes no number
#pragma unroll
  for (int i = 0; i < kEach; ++i) none = fmaf(total.at[i], 0.0F, none);
  if (__any_sync(~0U, sum > 0 && none != 0)) return compute_out(args, rows.batch, rows.head(row), query);
  const float share = sum == 0 ? 0.0F : 1.0F / sum;
  const int64_t to = rows.out_at(args, row);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int d = kEach * lane + i;
    if (d < args.problem.head_dim)
      store_element(kType, sum == 0 ? 0.0F : total.at[i] * share, args.out, to + d);
  }
}

}  // namespace orrery::kernels::cuda::flash
