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
  __device__ int slot(int index) const {
    const auto block = static_cast<int>(blockIdx.x);
    return 2 * block + static_cast<int>(index - in_rounds() != share(block) / kParts);
  }
  /// The blocks that take parts of a shared unit.
  struct Sharing {
    int first, count;
    bool is_second;  // the part of the first one, which began with another unit

    __device__ bool is_cut() const { return count > 1; }
    __device__ int slot(int i) const { return 2 * (first + i) + static_cast<int>(i == 0 && is_second); }
  };
  __device__ Sharing sharing(int index) const {
    const int unit = index - in_rounds(), begin = unit * kParts;
    int first = unit * blocks / shared;
    while (share(first + 1) <= begin) ++first;
    int behind = first + 1;
    while (share(behind) < begin + kParts) ++behind;
    return {first, behind - first, share(first) < begin};
  }
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

/// Of a row's keys, or of some of them: the largest score, in powers of two, and the sum of the weights.
struct PartSum {
  float largest, sum;
};

/// What blocks leave of parts of units.
struct Parts {
  float* at;
  int rows;  // of a tile, as far as there are queries

  /// Of a slot; totals of all rows, then sums, from a multiple of 16 bytes on.
  __host__ __device__ static constexpr int64_t floats(int64_t rows, int64_t dim) { return rows * (dim + 4); }
  template <int kDim>
  __device__ float* totals(int slot, int row) const {
    return at + slot * floats(rows, kDim) + row * kDim;
  }
  template <int kDim>
  __device__ PartSum& sum(int slot, int row) const {
    return reinterpret_cast<PartSum*>(totals<kDim>(slot, rows))[row];
  }
};

/// A row's totals in a warp; a lane has elements kEach lane and those that follow.
template <int kDim>
struct RowTotals {
  static constexpr int kEach = kDim / kWarp;
  struct alignas(kEach == 2 ? 8 : 16) Elements {
    float at[kEach];
  };
  Elements own = {};

  /// A part of the row's keys. Where the sum is 0 nothing need be in totals.
  struct Part {
    const PartSum& sum;
    const float* totals;
  };
  /// Totals become those of `count` parts; part_of(i) is one of them. As many are read together as registers
  /// allow: reading is what takes long.
  template <class PartOf>
  __device__ PartSum join(int count, PartOf&& part_of) {
    constexpr int kTogether = 16;
    PartSum all{-INFINITY, 0};
    for (int first = 0; first < count; first += kTogether) {
      PartSum sums[kTogether];
      Elements totals[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        sums[i] = {-INFINITY, 0};
        if (first + i >= count) continue;
        const Part part = part_of(first + i);
        sums[i] = part.sum;
        totals[i] = reinterpret_cast<const Elements*>(part.totals)[lane()];
      }
      float most = all.largest;
#pragma unroll
      for (int i = 0; i < kTogether; ++i) most = fmaxf(most, sums[i].largest);
      const float shift = shift_of(most), shrink = fast_exp2(all.largest - shift);
      all = {most, all.sum * shrink};
#pragma unroll
      for (int k = 0; k < kEach; ++k) own.at[k] *= shrink;
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (sums[i].sum == 0) continue;
        const float worth = fast_exp2(sums[i].largest - shift);
        all.sum = fmaf(sums[i].sum, worth, all.sum);
#pragma unroll
        for (int k = 0; k < kEach; ++k) own.at[k] = fmaf(totals[i].at[k], worth, own.at[k]);
      }
    }
    return all;
  }
  /// out and log_sum_exp of a row that there is.
  template <DType kType>
  __device__ void write(const FlashAttention::Args& args, const UnitRows<true>& rows, int row, PartSum all) {
    const int query = rows.query(row);
    if (query >= Band(args, rows.batch).queries) all.sum = 0;
    if (lane() == 0 && args.log_sum_exp != nullptr)
      args.log_sum_exp[rows.index(args, row)] = log_of_sum(all.largest, all.sum);
    float none = 0;  // stays so, or becomes no number
#pragma unroll
    for (int k = 0; k < kEach; ++k) none = fmaf(own.at[k], 0.0F, none);
    if (__any_sync(~0U, all.sum > 0 && none != 0))
      return compute_out(args, rows.batch, rows.head(row), query);
    const float share = all.sum == 0 ? 0.0F : 1.0F / all.sum;
    const int64_t to = rows.out_at(args, row);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int d = kEach * lane() + k;
      if (d < args.problem.head_dim)
        store_element(kType, all.sum == 0 ? 0.0F : own.at[k] * share, args.out, to + d);
    }
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
};

constexpr int kJoinWarps = 4;

/// Row blockIdx.x kJoinWarps + warp of the shared unit blockIdx.y, where that was cut.
template <DType kType, int kDim>
__global__ void __launch_bounds__(kJoinWarps* kWarp)
    join_kernel(const __grid_constant__ FlashAttention::Args args, const Schedule schedule,
                const Parts parts) {
  pdl_trigger();
  const int row = static_cast<int>(blockIdx.x) * kJoinWarps + static_cast<int>(threadIdx.x) / kWarp;
  const int index = schedule.in_rounds() + static_cast<int>(blockIdx.y);
  const Schedule::Sharing sharing = schedule.sharing(index);
  const UnitRows<true> rows(args, schedule, schedule.place(index));
  const bool is_there = sharing.is_cut() && row < parts.rows && rows.query(row) < args.queries;
  pdl_wait();  // the lines above take as long as what follows, and need not wait
  if (!is_there) return;

  RowTotals<kDim> totals;
  const PartSum sum = totals.join(sharing.count, [&](int i) {
    const int slot = sharing.slot(i);
    return typename RowTotals<kDim>::Part{parts.sum<kDim>(slot, row), parts.totals<kDim>(slot, row)};
  });
  totals.template write<kType>(args, rows, row, sum);
}

}  // namespace orrery::kernels::cuda::flash
