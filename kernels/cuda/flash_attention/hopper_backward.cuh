// cuda.flash_hopper, backward: gradients of attention over tensors of f16 or bf16 (flash_attention.h) with
// the products of four warps (wgmma) and the copies of tiles (TMA) of cards of capability 9.0. Weights are
// computed again from log_sum_exp. One kernel, in the two roles of mma_backward.cuh:
//   queries  a block owns queries of one head and walks over the keys that they see: grad_query
//   keys     a block owns keys of one key and value head and walks over the queries that see them, head after
//            head of its group: grad_key, grad_value
// Of two own tiles (query and grad_out, or key and value) and two of the others:
//   product = own0 . other0     grad = own1 . other1     both (own rows x others), in registers
//   total0 += e other0          total1 += weight other1 (of keys)
// Weights and their gradients, rounded, are factors of the second products as the first ones left them:
// nothing is exchanged between warps. Each gradient is added up by one block in one order: no atomics, the
// same bits each time. Against one kernel that adds up grad_query among blocks that is 7 products instead of
// 5, but no block waits for another, and no gradient in float32 goes through memory.
//   A block has groups of four warps that multiply, each for 64 own rows, and one that brings tiles: a thread
//   by TMA, and for keys a warp the sums of the queries. Products run in order while threads compute:
//   exponentials beside grad, gradients of weights beside total1, and groups beside each other. Shared
//   memory: [64 elements of head_dim][row][64], swizzled (device/warpgroup.cuh); the others in several
//   stages. Heads are padded to 64 or 128 elements: zeros that TMA fills in.
// Preconditions: head_dim a multiple of 8, rows 16-byte aligned; no bias, mask, softcap or dropout.
// Bytes moved: own rows once; the others once for the own rows of a block, mostly from the L2 cache.
#pragma once

#include "kernels/cuda/device/tile_copy.cuh"
#include "kernels/cuda/flash_attention/backward.h"
#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/flash_attention/group_products.cuh"
#include "kernels/cuda/flash_attention/tensor_maps.h"

namespace orrery::kernels::cuda::flash {

/// kDim: what heads are padded to; kGroups: that multiply; kOthers: rows of a tile of the others, of which
/// kStages lie there at once.
template <int kDim, bool kOwnsKeys, int kGroups, int kOthers, int kStages>
struct HopperGradShape {
  static constexpr bool owns_keys = kOwnsKeys;
  static constexpr int dim = kDim, slices = kDim / 64, groups = kGroups, group_threads = 128;
  static constexpr int group_rows = 64, own = groups * group_rows, others = kOthers, stages = kStages;
  static constexpr int threads = group_threads * (groups + 1);
  static constexpr int own_slice = own * 128, other_slice = others * 128;  // bytes
  static constexpr int own_bytes = slices * own_slice, other_bytes = slices * other_slice;
  static constexpr int sums_bytes = kOwnsKeys ? 2 * others * static_cast<int>(sizeof(float)) : 0;
  // Of a thread: 65,536 are shared by all of a multiprocessor's blocks.
  static constexpr int blocks = groups == 1 ? 2 : 1;
  static constexpr int copying_registers = 24, registers = groups == 1 ? 232 : 240;
  // Both products of a tile begin together, where registers suffice beside the totals of the tile before.
  // Where they do not, what is subtracted is read while products run; elsewhere that is slower.
  static constexpr bool at_once = dim == 64 || !kOwnsKeys;
  static constexpr size_t shared_bytes =
      1024 + 2 * own_bytes + stages * (2 * other_bytes + sums_bytes) + 8 * (1 + 2 * stages);
};

/// Who computes what: tiles of own rows of all heads, section by section of heads that share the L2 cache,
/// the tiles that have most to do first.
struct GradSchedule {
  int tiles, heads, section;  // heads: of all batches

  struct Place {
    int level, head;
  };
  __device__ Place place(int index) const {
    const int first_head = index / (section * tiles) * section, rest = index - first_head * tiles;
    const int count = min(section, heads - first_head);
    return {rest / count, first_head + rest % count};
  }
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where tiles lie, and the barriers that tell that they have come (full) or may be overwritten (empty).
template <class Shape>
struct GradTiles {
  uint32_t begin;  // a multiple of 1,024

  __device__ uint32_t own(int i) const { return begin + static_cast<uint32_t>(i * Shape::own_bytes); }
  __device__ uint32_t other(int stage, int i) const {
    return own(2) + static_cast<uint32_t>((2 * stage + i) * Shape::other_bytes);
  }
  /// What is subtracted of scores and of gradients of weights, where the others are queries.
  __device__ uint32_t shifts(int stage) const {
    return other(Shape::stages, 0) + static_cast<uint32_t>(stage * Shape::sums_bytes);
  }
  __device__ uint32_t means(int stage) const {
    return shifts(stage) + static_cast<uint32_t>(Shape::sums_bytes / 2);
  }
  __device__ uint32_t barrier(int i) const { return shifts(Shape::stages) + static_cast<uint32_t>(8 * i); }
  __device__ uint32_t own_full() const { return barrier(0); }
  __device__ uint32_t full(int stage) const { return barrier(1 + 2 * stage); }
  __device__ uint32_t empty(int stage) const { return barrier(2 + 2 * stage); }

  /// By one thread.
  __device__ void make_barriers() const {
    make_barrier(own_full(), 1);
    for (int stage = 0; stage < Shape::stages; ++stage) {
      make_barrier(full(stage), Shape::owns_keys ? 1 + 32 : 1);
      // One lane of each warp arrives; all lanes where they have read the sums, which threads write.
      make_barrier(empty(stage), (Shape::owns_keys ? Shape::group_threads : 4) * Shape::groups);
    }
    show_barriers();
  }
};

/// What a block computes, and its tiles of the others: `count` of each of `heads` query heads.
template <class Shape>
struct GradWork {
  int batch, head, first_head, kv_head, heads, first_own, own_end, begin = 0, end = 0, count = 0;
  Band band;

  __device__ GradWork(const FlashAttention::Args& args, const GradSchedule& schedule)
      : GradWork(args, schedule, schedule.place(static_cast<int>(blockIdx.x)),
                 static_cast<int>(Shape::owns_keys ? args.problem.kv_heads : args.problem.heads)) {}
  /// The queries that see most keys are last, the keys that most queries see first.
  __device__ GradWork(const FlashAttention::Args& args, const GradSchedule& schedule, GradSchedule::Place at,
                      int own_heads)
      : batch(at.head / own_heads), head(at.head % own_heads), band(args, batch) {
    const auto group = static_cast<int>(args.problem.heads / args.problem.kv_heads);
    kv_head = Shape::owns_keys ? head : head / group;
    first_head = Shape::owns_keys ? head * group : head;
    heads = Shape::owns_keys ? group : 1;
    first_own = (Shape::owns_keys ? at.level : schedule.tiles - 1 - at.level) * Shape::own;
    own_end = min(first_own + Shape::own, Shape::owns_keys ? band.keys : band.queries);
    if (first_own >= own_end) return;
    begin = (Shape::owns_keys ? band.first_query(first_own) : band.first_key(first_own)) / Shape::others *
            Shape::others;
    end = Shape::owns_keys ? band.behind_query(own_end - 1) : band.behind_key(own_end - 1);
    count = end > begin ? (end - begin + Shape::others - 1) / Shape::others : 0;
  }
  /// visit(query head, first row) of each tile of the others.
  template <class Visit>
  __device__ void each(Visit&& visit) const {
    for (int h = first_head; h < first_head + heads; ++h)
      for (int t = 0; t < count; ++t) visit(h, begin + t * Shape::others);
  }
};

/// One thread asks for all tiles, in the order in which they are used.
template <class Shape>
__device__ void bring_tiles(const GradMaps& maps, const GradTiles<Shape>& tiles,
                            const GradWork<Shape>& work) {
  if (work.count == 0) return;
  const auto bring = [&](uint32_t to, int slice_bytes, const CUtensorMap& map, int row, int head,
                         uint32_t full) {
#pragma unroll
    for (int slice = 0; slice < Shape::slices; ++slice)
      copy_box(to + static_cast<uint32_t>(slice * slice_bytes), map, 64 * slice, row, head, work.batch, full);
  };
  arrive_expecting(tiles.own_full(), 2 * Shape::own_bytes);
  bring(tiles.own(0), Shape::own_slice, Shape::owns_keys ? maps.key : maps.query, work.first_own, work.head,
        tiles.own_full());
  bring(tiles.own(1), Shape::own_slice, Shape::owns_keys ? maps.value : maps.grad_out, work.first_own,
        work.head, tiles.own_full());
  Stage<Shape::stages> stage;
  work.each([&](int query_head, int first) {
    const uint32_t full = tiles.full(stage.at);
    const int head = Shape::owns_keys ? query_head : work.kv_head;
    wait_for_phase(tiles.empty(stage.at), stage.phase ^ 1);
    arrive_expecting(full, 2 * Shape::other_bytes);
    bring(tiles.other(stage.at, 0), Shape::other_slice, Shape::owns_keys ? maps.query : maps.key, first, head,
          full);
    bring(tiles.other(stage.at, 1), Shape::other_slice, Shape::owns_keys ? maps.grad_out : maps.value, first,
          head, full);
    stage.advance();
  });
}

/// One warp brings the sums of queries: those of the next tile are read while it waits.
template <class Shape>
__device__ void bring_sums(const FlashAttention::Args& args, const float* sums, const GradTiles<Shape>& tiles,
                           const GradWork<Shape>& work) {
  constexpr int kEach = Shape::others / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Stage<Shape::stages> stage;
  work.each([&](int query_head, int first) {
    const int64_t row = (work.batch * args.problem.heads + query_head) * args.queries;
    float shift[kEach], mean[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int query = first + lane + 32 * i;
      const bool there = query < work.band.queries;
      shift[i] = there ? shift_of_sum(args.log_sum_exp[row + query]) : INFINITY;
      mean[i] = there ? sums[row + query] : 0.0F;
    }
    wait_for_phase(tiles.empty(stage.at), stage.phase ^ 1);
    const auto place = static_cast<uint32_t>(4 * lane);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(tiles.shifts(stage.at) + place + 128 * i), "f"(shift[i])
                   : "memory");
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(tiles.means(stage.at) + place + 128 * i), "f"(mean[i])
                   : "memory");
    }
    arrive(tiles.full(stage.at));
    stage.advance();
  });
}

__device__ inline float2 load_two(uint32_t from) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(from) : "memory");
  return x;
}

/// The tiles of the others that a group walks over, in few registers.
template <class Shape>
struct GradWalk {
  int begin, end, left;         // first rows of tiles of each head; tiles of all heads
  int whole_begin, whole_last;  // of tiles whose first row is among these the group sees, or is seen by, all

  __device__ GradWalk(const GradWork<Shape>& work, int own)
      : begin(work.begin), end(work.end), left(work.heads * work.count) {
    const Band& band = work.band;
    if constexpr (Shape::owns_keys) {
      whole_begin = own + Shape::group_rows - band.end;
      whole_last = min(band.queries - Shape::others, own - band.begin + 1 - Shape::others);
    } else {
      whole_begin = own + Shape::group_rows - 1 + band.begin;
      whole_last = min(band.keys - Shape::others, own + band.end - Shape::others);
    }
    if (own + Shape::group_rows > (Shape::owns_keys ? band.keys : band.queries)) whole_last = -1;
  }
  __device__ bool has_edge(int first) const { return first < whole_begin || first > whole_last; }
};

/// What one group makes of the tiles.
template <DType kType, class Shape>
class GradConsumer {
 public:
  __device__ GradConsumer(const FlashAttentionBackward::Args& args, const float* sums,
                          const GradSchedule& schedule, const GradTiles<Shape>& tiles)
      : args_(args),
        sums_(sums),
        schedule_(schedule),
        tiles_(tiles),
        group_(__shfl_sync(~0U, static_cast<int>(threadIdx.x) / Shape::group_threads, 0)),
        factor_(args.forward.scale * kLog2OfE) {
    if constexpr (!Shape::owns_keys) {
      const GradWork<Shape> work = this->work();
      const int64_t row = (work.batch * args.forward.problem.heads + work.head) * args.forward.queries;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = lane_own(work) + 8 * half;
        const bool there = query < work.band.queries;
        own_shift_[half] = there ? shift_of_sum(args.forward.log_sum_exp[row + query]) : INFINITY;
        own_mean_[half] = there ? sums[row + query] : 0.0F;
      }
    }
  }

  __device__ void run() {
    float total0[kCols][4] = {}, total1[kTotals1][4] = {};
    add_tiles(total0, total1);
    meet(1 + group_, Shape::group_threads);
    const GradWork<Shape> work = this->work();
    write(work, Shape::owns_keys ? args_.grad_key : args_.grad_query, tiles_.own(0), total0,
          args_.forward.scale);
    if constexpr (Shape::owns_keys) write(work, args_.grad_value, tiles_.own(1), total1, 1.0F);
    repair(work, total0, total1);
  }

 private:
  static constexpr int kCols = Shape::dim / 8, kBlocks = Shape::others / 8;
  static constexpr int kTotals1 = Shape::owns_keys ? kCols : 1, kSums = Shape::owns_keys ? kBlocks : 1;

  /// Worked out again: registers are too short to keep it, and it is rarely needed.
  __device__ GradWork<Shape> work() const {
    GradSchedule schedule = schedule_;
    schedule.tiles = static_cast<int>(made_here(static_cast<uint32_t>(schedule.tiles)));
    return GradWork<Shape>(args_.forward, schedule);
  }
  __device__ uint32_t own(int i) const { return tiles_.own(i) + static_cast<uint32_t>(group_row() * 128); }
  __device__ int group_row() const { return group_ * Shape::group_rows; }
  __device__ int warp_row() const { return group_row() + static_cast<int>(threadIdx.x) / 32 % 4 * 16; }
  __device__ int lane_own(const GradWork<Shape>& work) const {
    return work.first_own + warp_row() + static_cast<int>(threadIdx.x) % 32 / 4;
  }

  __device__ void add_tiles(float (&total0)[kCols][4], float (&total1)[kTotals1][4]) {
    const GradWork<Shape> work = this->work();
    GradWalk<Shape> walk(work, work.first_own + group_row());
    if (walk.left == 0) return;
    wait_for_phase(tiles_.own_full(), 0);
    settle(total0);  // zeros are there before products begin
    settle(total1);
    int last = -1;  // the stage whose totals are being added
    for (int first = walk.begin; walk.left > 0; --walk.left) {
      const int at = stage_.at;
      float weights[kBlocks][4], grads[kBlocks][4];
      float2 shifts[kSums], means[kSums];
      wait_for_phase(tiles_.full(at), stage_.phase);
      begin_row_products<kType, Shape::dim>(own(0), Shape::own_slice, tiles_.other(at, 0), Shape::other_slice,
                                            weights);
      if constexpr (Shape::at_once) {
        begin_row_products<kType, Shape::dim>(own(1), Shape::own_slice, tiles_.other(at, 1),
                                              Shape::other_slice, grads);
        wait_for_products<1>();
        finish_totals(last, total0, total1);
        settle(weights);
        load_sums(tiles_.shifts(at), shifts);
      } else {
        load_sums(tiles_.shifts(at), shifts);
        wait_for_products<1>();
        finish_totals(last, total0, total1);
        begin_row_products<kType, Shape::dim>(own(1), Shape::own_slice, tiles_.other(at, 1),
                                              Shape::other_slice, grads);
        wait_for_products<1>();
        settle(weights);
      }
      soften(shifts, weights);
      if (walk.has_edge(first)) hide_unseen(first, weights);
      if constexpr (Shape::owns_keys) {
        const Factor<kType, Shape::others> factor(weights);
        begin_row_sums(factor, tiles_.other(at, 1), Shape::other_slice, total1);
        if constexpr (!Shape::at_once) load_sums(tiles_.means(at), means);
        wait_for_products<1>();
      } else {
        wait_for_products<0>();
      }
      settle(grads);
      if constexpr (Shape::at_once) load_sums(tiles_.means(at), means);
      find_gradients(means, weights, grads);
      const Factor<kType, Shape::others> factor(grads);
      begin_row_sums(factor, tiles_.other(at, 0), Shape::other_slice, total0);
      last = at;
      stage_.advance();
      first += Shape::others;
      if (first >= walk.end) first = walk.begin;  // of the next head
    }
    wait_for_products<0>();
    settle(total0);
    settle(total1);
  }

  /// The products that added a tile to totals are done: it may be overwritten.
  __device__ void finish_totals(int stage, float (&total0)[kCols][4], float (&total1)[kTotals1][4]) const {
    settle(total0);
    settle(total1);
    if (stage < 0) return;
    if constexpr (Shape::owns_keys)
      arrive(tiles_.empty(stage));
    else
      give_back(tiles_.empty(stage));
  }

  /// Of the tile's queries what the lane needs of its columns; nothing where queries are the own rows.
  __device__ static void load_sums(uint32_t from, float2 (&sums)[kSums]) {
    if constexpr (Shape::owns_keys) {
#pragma unroll
      for (int n = 0; n < kBlocks; ++n) sums[n] = load_two(from + threadIdx.x % 4 * 8 + 32 * n);
    }
  }
  /// Of element i of a product's block n.
  __device__ static float sum_of(const float2 (&columns)[kSums], const float (&rows)[2], int n, int i) {
    if constexpr (Shape::owns_keys)
      return i % 2 == 0 ? columns[n].x : columns[n].y;
    else
      return rows[i / 2];
  }

  /// Products become weights.
  __device__ void soften(const float2 (&shifts)[kSums], float (&weights)[kBlocks][4]) const {
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        weights[n][i] = fast_exp2(fmaf(weights[n][i], factor_, -sum_of(shifts, own_shift_, n, i)));
  }

  /// Weights are 0 where a query does not see a key.
  __device__ void hide_unseen(int first, float (&weights)[kBlocks][4]) const {
    const GradWork<Shape> work = this->work();
    const int own = lane_own(work), c = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int mine = own + i / 2 * 8, other = first + 8 * n + 2 * c + i % 2;
        if (!work.band.sees(Shape::owns_keys ? other : mine, Shape::owns_keys ? mine : other))
          weights[n][i] = 0;
      }
  }

  /// Gradients of weights become those of scores.
  __device__ void find_gradients(const float2 (&means)[kSums], const float (&weights)[kBlocks][4],
                                 float (&grads)[kBlocks][4]) const {
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        grads[n][i] = weights[n][i] * (grads[n][i] - sum_of(means, own_mean_, n, i));
  }

  /// By way of the group's rows of an own tile, which are read no more.
  __device__ void write(const GradWork<Shape>& work, void* to, uint32_t tile, const float (&totals)[kCols][4],
                        float scale) const {
    if (to == nullptr) return;
    const FlashAttention::Args& forward = args_.forward;
    const auto rows = static_cast<int>(Shape::owns_keys ? forward.keys : forward.queries);
    const auto head_dim = static_cast<int>(forward.problem.head_dim);
    const int64_t heads = Shape::owns_keys ? forward.problem.kv_heads : forward.problem.heads;
    uint16_t* const head = static_cast<uint16_t*>(to) + (work.batch * heads + work.head) * rows * head_dim;
    const float share[2] = {lane_own(work) < work.own_end ? scale : 0.0F,
                            lane_own(work) + 8 < work.own_end ? scale : 0.0F};
#pragma unroll
    for (int slice = 0; slice < Shape::slices; ++slice) {
      const uint32_t part = tile + static_cast<uint32_t>(slice * Shape::own_slice);
      put_rows<kType, 64, 64>(part, warp_row(), reinterpret_cast<const float(&)[8][4]>(totals[8 * slice]),
                              share);
      store_rows<64, 64, 16>(part, warp_row(), head, head_dim, work.first_own + warp_row(), rows, 8 * slice,
                             head_dim);
    }
  }

  /// Rows whose sums are not finite once more.
  __device__ void repair(const GradWork<Shape>& work, const float (&total0)[kCols][4],
                         const float (&total1)[kTotals1][4]) const {
    bool again[2], of_values[2];
    find_broken(total0, again);
    find_broken(total1, of_values);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      again[half] = (again[half] || of_values[half]) && lane_own(work) + 8 * half < work.own_end;
    each_again(again, [&](int row) {
      const int own = work.first_own + warp_row() + row;
      if constexpr (Shape::owns_keys)
        compute_grad_key(args_, sums_, work.batch, work.kv_head, own, 0,
                         static_cast<int>(args_.forward.problem.head_dim));
      else
        compute_grad_query(args_, sums_, work.batch, work.head, own);
    });
  }

  const FlashAttentionBackward::Args& args_;
  const float* sums_;
  const GradSchedule& schedule_;
  GradTiles<Shape> tiles_;
  int group_;
  float factor_;
  float own_shift_[2], own_mean_[2];  // of queries
  Stage<Shape::stages> stage_;
};

template <DType kType, class Shape>
__device__ void find_grads(const FlashAttentionBackward::Args& args, const GradMaps& maps, const float* sums,
                           const GradSchedule& schedule) {
  extern __shared__ uint4 memory[];
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const GradTiles<Shape> tiles{(begin + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) tiles.make_barriers();
  pdl_wait();
  __syncthreads();
  constexpr int kFirstCopying = Shape::groups * Shape::group_threads;
  if (threadIdx.x >= kFirstCopying) {
    give_up_registers<Shape::copying_registers>();
    const GradWork<Shape> work(args.forward, schedule);
    if (threadIdx.x == kFirstCopying) bring_tiles<Shape>(maps, tiles, work);
    if constexpr (Shape::owns_keys)
      if (threadIdx.x / 32 == kFirstCopying / 32 + 1) bring_sums<Shape>(args.forward, sums, tiles, work);
  } else {
    take_registers<Shape::registers>();
    GradConsumer<kType, Shape>(args, sums, schedule, tiles).run();
  }
}

#else

template <DType kType, class Shape>
__device__ void find_grads(const FlashAttentionBackward::Args&, const GradMaps&, const float*,
                           const GradSchedule&) {}  // no card that runs this is given the row

#endif

template <DType kType, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    hopper_grad_kernel(const __grid_constant__ FlashAttentionBackward::Args args,
                       const __grid_constant__ GradMaps maps, const float* sums,
                       const __grid_constant__ GradSchedule schedule) {
  find_grads<kType, Shape>(args, maps, sums, schedule);
}

}  // namespace orrery::kernels::cuda::flash
