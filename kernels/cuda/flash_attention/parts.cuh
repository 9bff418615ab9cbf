// Who computes what of attention over tensors (hopper.cuh): units of work, which are tiles of queries of one
// head, and their parts. Where units do not come out even over the blocks, the last ones are cut by their
// keys into equal shares; so are the units of a call that has fewer than there are blocks, such as one query
// of many keys. What a block makes of a part,
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
  int tiles, heads, section;   // heads: of all batches
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
    join_kernel(const __grid_constant__ FlashAttention::Args args, const Schedule schedule, const Parts parts,
                int tile_rows) {
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
  const Schedule::Place place = schedule.place(index);
  const int query = place.tile * tile_rows + row;
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

  const auto heads = static_cast<int>(args.problem.heads);
  const int head = place.head % heads, batch = place.head / heads;
  if (query >= Band(args, batch).queries) sum = 0;
  if (lane == 0 && args.log_sum_exp != nullptr)
    args.log_sum_exp[place.head * args.queries + query] = log_of_sum(most, sum);
  float none = 0;  // stays so, or becomes no number
#pragma unroll
  for (int i = 0; i < kEach; ++i) none = fmaf(total.at[i], 0.0F, none);
  if (__any_sync(~0U, sum > 0 && none != 0)) return compute_out(args, batch, head, query);
  const float share = sum == 0 ? 0.0F : 1.0F / sum;
  const int64_t to =
      batch * args.out_strides.batch + head * args.out_strides.head + query * args.out_strides.token;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int d = kEach * lane + i;
    if (d < args.problem.head_dim)
      store_element(kType, sum == 0 ? 0.0F : total.at[i] * share, args.out, to + d);
  }
}

}  // namespace orrery::kernels::cuda::flash
