// cuda.flash_hopper: attention over tensors of f16 or bf16 (flash_attention.h) with the products of four
// warps (wgmma) and the copies of tiles (TMA) of cards of capability 9.0 (FlashAttention-3, Shah et al. 2024,
// arXiv 2407.08608). Products are exact, weights rounded to the operands' type.
//   One block a multiprocessor walks over units of work, whole ones and parts (parts.cuh). It has one to four
//   groups of four warps that multiply, each for 64 queries of one batch and head, and one that brings tiles,
//   which takes a thread. They walk over the keys that the block's queries see, last tile first, in tiles
//   that begin at multiples of their size: keys and values in two or four stages each, queries in two where
//   there is room. The products of queries with the next keys run while the values of the last ones are
//   added, these beside the softmax of those, and from one unit to the next as within one: filling and
//   emptying that pipeline for each unit took a tenth of the time of causal heads of 4,096 keys. Groups begin
//   products in turns, so that one multiplies while another has its softmax. A group reads queries, keys and
//   values from shared memory as they are; scores, weights and totals are in registers, of which the copying
//   warps give up theirs.
//   With few queries, heads that share keys share a tile, with a row for each query of each head: the keys
//   are read once for all of them, and the tensor cores get more than a few rows. Where one group has room
//   for all, two blocks fit on a multiprocessor: the kernel that follows is there, with its arithmetic done,
//   when the one before it ends. Between calls of one query that arithmetic took a sixth of the time.
//   shared    [64 elements of head_dim][row][64], swizzled as TMA writes and wgmma reads it
//             (device/warpgroup.cuh); heads are padded to 64, 128 or 256 elements: zeros that TMA fills in
//   requires  head_dim a multiple of 8, rows 16-byte aligned; no bias, mask, dropout
//   Bytes moved: query and out once, keys and values that are seen once for the queries of a tile.
#pragma once

#include "kernels/cuda/device/tile_copy.cuh"
#include "kernels/cuda/flash_attention/careful.cuh"
#include "kernels/cuda/flash_attention/group_products.cuh"
#include "kernels/cuda/flash_attention/parts.cuh"
#include "kernels/cuda/flash_attention/softmax.cuh"
#include "kernels/cuda/flash_attention/tensor_maps.h"

namespace orrery::kernels::cuda::flash {

constexpr int kGroupThreads = 128, kGroupRows = 64;

/// kDim: what heads are padded to; kKeys: of a tile; kGroups: that multiply; kQueries: tiles of queries that
/// lie there at once; kBends: with a softcap; kJoins: heads that read the same keys share tiles of queries.
template <int kDim, int kKeys, int kGroups, int kQueries = 1, bool kBends = false, bool kJoins = false>
struct HopperShape {
  static constexpr int dim = kDim, groups = kGroups, rows = groups * kGroupRows;
  static constexpr int keys = kKeys, slices = kDim / 64;
  // Tiles of keys, and as many of values, that lie there at once.
  static constexpr int stages = kDim * kKeys <= (groups == 1 ? 64 * 64 : 64 * 128) ? 4 : 2;
  // That a multiprocessor has room for: of one call, or one of the call that follows, which begins while this
  // one ends.
  static constexpr int blocks = groups == 1 && kDim <= 128 ? 2 : 1;
  static constexpr int queries = kQueries;
  static constexpr bool bends = kBends, joins = kJoins;
  // Groups pass by tiles of keys that only later ones see, where these are many; it takes registers.
  static constexpr bool skips = groups > 1 && keys == kGroupRows;
  // The last values of a unit are added beside the first scores of the next one: the next queries must be
  // there, and no tiles to pass by, as the stage of those values is not free yet.
  static constexpr bool chains = queries > 1 && !skips;
  static constexpr int threads = kGroupThreads * (groups + 1);
  static constexpr int query_slice = rows * 128, key_slice = keys * 128;  // bytes
  static constexpr int query_bytes = slices * query_slice, key_bytes = slices * key_slice;
  // Of a thread: 65,536 are shared by all.
  static constexpr int copying_registers = blocks == 2 ? 40 : groups == 3 ? 32 : 24;
  static constexpr int registers = groups == 4 ? 112 : groups == 3 ? 160 : blocks == 2 ? 216 : 240;
  static constexpr int barriers = 2 * queries + 4 * stages;
  static constexpr size_t shared_bytes =
      1024 + queries * query_bytes + 2 * stages * key_bytes + 8 * (barriers + 1);
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where tiles lie, and the barriers that tell that they have come (full) or may be overwritten (empty).
template <class Shape>
struct Tiles {
  uint32_t begin;  // a multiple of 1,024

  __device__ uint32_t query(int stage) const {
    return begin + static_cast<uint32_t>(stage * Shape::query_bytes);
  }
  __device__ uint32_t key(int stage) const {
    return query(Shape::queries) + static_cast<uint32_t>(stage * Shape::key_bytes);
  }
  __device__ uint32_t value(int stage) const { return key(Shape::stages + stage); }
  __device__ uint32_t barrier(int i) const { return key(2 * Shape::stages) + static_cast<uint32_t>(8 * i); }
  __device__ uint32_t query_full(int stage) const { return barrier(2 * stage); }
  __device__ uint32_t query_empty(int stage) const { return barrier(1 + 2 * stage); }
  __device__ uint32_t of_stage(int stage, int i) const { return barrier(2 * Shape::queries + 4 * stage + i); }
  __device__ uint32_t key_full(int stage) const { return of_stage(stage, 0); }
  __device__ uint32_t key_empty(int stage) const { return of_stage(stage, 1); }
  __device__ uint32_t value_full(int stage) const { return of_stage(stage, 2); }
  __device__ uint32_t value_empty(int stage) const { return of_stage(stage, 3); }

  /// Whether some total of the block was not finite though its weights were.
  __device__ bool is_broken() const {
    unsigned broken;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(broken) : "r"(barrier(Shape::barriers)) : "memory");
    return broken != 0;
  }
  __device__ void set_broken(unsigned broken) const {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(barrier(Shape::barriers)), "r"(broken) : "memory");
  }

  /// By one thread.
  __device__ void make_barriers() const {
    set_broken(0);
    constexpr int kReaders = 4 * Shape::groups;  // a lane of each warp
    for (int stage = 0; stage < Shape::queries; ++stage) {
      make_barrier(query_full(stage), 1);
      make_barrier(query_empty(stage), kReaders);
    }
    for (int stage = 0; stage < Shape::stages; ++stage) {
      make_barrier(key_full(stage), 1);
      make_barrier(key_empty(stage), kReaders);
      make_barrier(value_full(stage), 1);
      make_barrier(value_empty(stage), kReaders);
    }
    show_barriers();
  }
};

/// A unit of work: queries of one batch and head, or of some that read the same keys, and their keys.
template <class Shape>
struct HopperWork {
  UnitRows<Shape::joins> rows;
  int kv_head;
  Band band;
  SeenKeys seen;
  int start, count;  // tiles of keys

  __device__ HopperWork(const FlashAttention::Args& args, const Schedule& schedule, Schedule::Place place)
      : rows(args, schedule, place),
        kv_head(rows.first_head / static_cast<int>(args.problem.heads / args.problem.kv_heads)),
        band(args, rows.batch),
        seen(band, rows.first_query, schedule.queries),
        start(seen.start(Shape::keys)),
        count(seen.tiles(Shape::keys)) {}
  /// What the block takes of a unit.
  __device__ HopperWork(const FlashAttention::Args& args, const Schedule& schedule, int index)
      : HopperWork(args, schedule, schedule.place(index)) {
    const Schedule::Share share = schedule.share_of(index);
    const int first = count * share.begin / kParts;
    start += first * Shape::keys;
    count = count * share.end / kParts - first;
  }
  __device__ int first_key(int tile) const { return start + tile * Shape::keys; }
};

/// One thread asks for all tiles, in the order in which they are used.
template <class Shape>
__device__ void bring_tiles(const FlashAttention::Args& args, const TensorMaps& maps,
                            const Tiles<Shape>& tiles, const Schedule& schedule) {
  // Where each head of keys has one unit, one block reads a key.
  const bool once = Shape::joins && schedule.units() == args.batch * args.problem.kv_heads;
  Stage<Shape::queries> query;
  Stage<Shape::stages> stage;
  schedule.each([&](int index) {
    const HopperWork<Shape> work(args, schedule, index);
    pdl_wait();
    const auto bring = [&](uint32_t to, int slice_bytes, int rows, const CUtensorMap& map, int y, int z,
                           uint32_t full, bool read_once) {
      arrive_expecting(full, Shape::slices * 128 * rows);
#pragma unroll
      for (int slice = 0; slice < Shape::slices; ++slice)
        copy_box(to + static_cast<uint32_t>(slice * slice_bytes), map, 64 * slice, y, z, work.rows.batch,
                 full, read_once);
    };
    for (int t = work.count - 1; t >= 0; --t) {
      wait_for_phase(tiles.key_empty(stage.at), stage.phase ^ 1);
      bring(tiles.key(stage.at), Shape::key_slice, Shape::keys, maps.key, work.first_key(t), work.kv_head,
            tiles.key_full(stage.at), once);
      if (t == work.count - 1) {  // the keys do not wait until out of the unit before is written
        const int query_at = work.rows.first_query, head = work.rows.first_head;
        wait_for_phase(tiles.query_empty(query.at), query.phase ^ 1);
        bring(tiles.query(query.at), Shape::query_slice,
              Shape::joins ? schedule.joined * schedule.queries : Shape::rows, maps.query,
              Shape::joins ? head : query_at, Shape::joins ? query_at : head, tiles.query_full(query.at),
              false);
        query.advance();
      }
      wait_for_phase(tiles.value_empty(stage.at), stage.phase ^ 1);
      bring(tiles.value(stage.at), Shape::key_slice, Shape::keys, maps.value, work.first_key(t), work.kv_head,
            tiles.value_full(stage.at), once);
      stage.advance();
    }
  });
}

/// Rows of the warp that are not finite once more, of all units of the block.
template <DType kType, class Shape>
__device__ __noinline__ void repair_units(const FlashAttention::Args& args, const Schedule& schedule,
                                          int warp_row) {
  constexpr uint16_t kInfinity = kType == DType::f16 ? 0x7c00 : 0x7f80;
  schedule.each([&](int index) {
    if (!schedule.share_of(index).is_whole()) return;  // who joins parts looks at them
    const HopperWork<Shape> work(args, schedule, index);
    for (int row = warp_row; row < warp_row + 16; ++row) {
      const int query = work.rows.query(row);
      if (query >= work.band.queries) return;
      const uint16_t* const out = static_cast<const uint16_t*>(args.out) + work.rows.out_at(args, row);
      bool broken = false;
      for (int d = static_cast<int>(threadIdx.x) % 32; d < static_cast<int>(args.problem.head_dim); d += 32)
        broken = broken || (out[d] & kInfinity) == kInfinity;
      if (__any_sync(~0U, broken)) compute_out(args, work.rows.batch, work.rows.head(row), query);
    }
  });
}

/// What one group makes of the tiles.
template <DType kType, class Shape>
class Consumer {
 public:
  __device__ Consumer(const FlashAttention::Args& args, const Schedule& schedule, const Parts& parts,
                      const Tiles<Shape>& tiles)
      : args_(args),
        schedule_(schedule),
        parts_(parts),
        tiles_(tiles),
        group_(__shfl_sync(~0U, static_cast<int>(threadIdx.x) / kGroupThreads, 0)),
        factor_(Shape::bends ? kLog2OfE : fmaxf(fabsf(args.scale) * kLog2OfE, 0x1p-126F)) {}

  __device__ void run() {
    if (group_ == Shape::groups - 1) pass_turn();  // the first group's
    RunningSum running;
    float totals[Shape::dim / 8][4] = {};
    Factor<kType, Shape::keys> weights;
    Open open;
    schedule_.each([&](int index) {
      const HopperWork<Shape> work(args_, schedule_, index);
      pdl_wait();
      if (work.count == 0) return write_nothing(work, index);
      const Walk walk(work, schedule_.place(index), group_, work.band.keys == static_cast<int>(args_.keys));
      wait_for_phase(tiles_.query_full(query_.at), query_.phase);
      if constexpr (Shape::skips) {
        skip_tiles(work.count - 1, walk.last);
        if (walk.last < 0) {
          write_nothing(work, index);
          give_back(tiles_.query_empty(query_.at));
          query_.advance();
          return;
        }
      }
      begin_unit(walk, open, weights, running, totals);
      add_tiles(walk, weights, running, totals);
      open = {index, stage_, walk.there(0)};
      stage_.advance();
      query_.advance();
      if constexpr (!Shape::chains) close(open, weights, running, totals);
    });
    if (Shape::chains && open.is_there()) close(open, weights, running, totals);
    meet_group();
    if (tiles_.is_broken()) repair_units<kType, Shape>(args_, schedule_, warp_row());
  }

 private:
  __device__ int warp_row() const {  // of the block's rows
    return group_ * kGroupRows + static_cast<int>(threadIdx.x) / 32 % 4 * 16;
  }
  __device__ uint32_t own_query() const {
    return tiles_.query(query_.at) + static_cast<uint32_t>(group_ * kGroupRows * 128);
  }
  /// Where the queries of the unit before lie.
  __device__ int query_before() const { return Shape::queries > 1 ? query_.at ^ 1 : 0; }
  /// All warps of the group.
  __device__ void meet_group() const { meet(1 + group_, kGroupThreads); }

  /// The unit at a place, worked out again: registers are too short to keep it, and it is rarely needed.
  __device__ HopperWork<Shape> work_at(Schedule::Place place) const {
    place.tile = static_cast<int>(made_here(static_cast<uint32_t>(place.tile)));
    place.head = static_cast<int>(made_here(static_cast<uint32_t>(place.head)));
    return HopperWork<Shape>(args_, schedule_, place);
  }

  /// Of the tiles of keys of a unit: the last that the group sees; those in [whole_begin, whole_end) have no
  /// edge for it. `behind`: of the batch's keys, whose last one others have more than; else kFar.
  struct Walk {
    Schedule::Place place;
    int start, last, whole_begin, whole_end, behind;

    __device__ Walk(const HopperWork<Shape>& work, Schedule::Place place, int group, bool all_keys)
        : place(place), start(work.start) {
      constexpr int kKeys = Shape::keys;
      const SeenKeys seen = work.rows.seen(work.band, group * kGroupRows, kGroupRows);
      last = work.count - 1;
      if constexpr (Shape::skips) {
        const bool none = seen.end <= max(seen.begin, work.start);
        last = none ? -1 : min(last, (seen.end - work.start + kKeys - 1) / kKeys - 1);
      }
      whole_begin = (max(seen.all_begin - work.start, 0) + kKeys - 1) / kKeys;
      whole_end = max(seen.all_end - work.start, 0) / kKeys;
      behind = all_keys ? kFar : work.band.keys;
    }
    __device__ int first_key(int tile) const { return start + tile * Shape::keys; }
    /// Keys of a tile from its first on, of which all have values.
    __device__ int there(int tile) const { return behind - first_key(tile); }
    __device__ bool has_edge(int tile) const { return tile < whole_begin || tile >= whole_end; }
  };

  /// A unit of which the values of the first tile are still to be added, with weights that are there.
  struct Open {
    int index = -1;  // none
    Stage<Shape::stages> values;
    int there;  // Walk::there

    __device__ bool is_there() const { return index >= 0; }
  };

  /// The first weights of a unit. The values that the unit before still lacks are added and its rows written
  /// beside their products and their softmax, as within a unit: a block's units are one walk.
  __device__ void begin_unit(const Walk& walk, Open& open, Factor<kType, Shape::keys>& weights,
                             RunningSum& running, float (&totals)[Shape::dim / 8][4]) {
    float scores[Shape::keys / 8][4], shrink[2];
    RunningSum begun;
    wait_for_phase(tiles_.key_full(stage_.at), stage_.phase);
    take_turn();
    begin_row_products<kType, Shape::dim>(own_query(), Shape::query_slice, tiles_.key(stage_.at),
                                          Shape::key_slice, scores);
    if (Shape::chains && open.is_there()) {
      add_values(open, weights, totals);
      pass_turn();
      wait_for_products<1>();
      settle(scores);
      give_back(tiles_.key_empty(stage_.at));
      finish_scores(walk, walk.last, scores);
      soften(scores, factor_, begun, shrink);
      wait_ahead(begun, scores, walk.last > 0);
      end_unit(open, running, totals);
    } else {
      pass_turn();
      wait_for_products<0>();
      settle(scores);
      give_back(tiles_.key_empty(stage_.at));
      finish_scores(walk, walk.last, scores);
      soften(scores, factor_, begun, shrink);
    }
    running = begun;
    weights = Factor<kType, Shape::keys>(scores);
#pragma unroll
    for (int n = 0; n < Shape::dim / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) totals[n][i] = 0;
  }

  /// Products of queries with the next keys run while the values of this tile are added, and both while
  /// another group has its softmax.
  __device__ void add_tiles(const Walk& walk, Factor<kType, Shape::keys>& weights, RunningSum& running,
                            float (&totals)[Shape::dim / 8][4]) {
    float scores[Shape::keys / 8][4], shrink[2];
    for (int t = walk.last; t > 0; --t) {
      const Stage<Shape::stages> stage = stage_;
      stage_.advance();
      wait_for_phase(tiles_.key_full(stage_.at), stage_.phase);
      take_turn();
      begin_row_products<kType, Shape::dim>(own_query(), Shape::query_slice, tiles_.key(stage_.at),
                                            Shape::key_slice, scores);
      wait_for_values(walk.there(t), stage);
      begin_row_sums(weights, tiles_.value(stage.at), Shape::key_slice, totals);
      pass_turn();
      wait_for_products<1>();
      settle(scores);
      give_back(tiles_.key_empty(stage_.at));
      finish_scores(walk, t - 1, scores);
      const bool shrinks = soften(scores, factor_, running, shrink);
      wait_ahead(running, scores, t > 1);
      wait_for_products<0>();
      settle(totals);
      give_back(tiles_.value_empty(stage.at));
      if (shrinks) shrink_totals(shrink, totals);
      weights = Factor<kType, Shape::keys>(scores);
    }
  }

  /// For the next keys, before the wait for products that run beside a softmax. The compiler hoists that wait
  /// to the start of its basic block and sinks whatever is needed only after it. A branch on the sums (which
  /// are never below 0) starts a new basic block here, so the softmax stays ahead of the wait.
  __device__ void wait_ahead(const RunningSum& running, float (&scores)[Shape::keys / 8][4], bool more) {
    settle(scores);
    if (more && !(running.sum[0] + running.sum[1] < 0)) {
      Stage<Shape::stages> next = stage_;
      next.advance();
      wait_for_phase(tiles_.key_full(next.at), next.phase);
    }
  }

  __device__ void add_values(const Open& open, const Factor<kType, Shape::keys>& weights,
                             float (&totals)[Shape::dim / 8][4]) {
    wait_for_values(open.there, open.values);
    begin_row_sums(weights, tiles_.value(open.values.at), Shape::key_slice, totals);
  }

  /// Once the products of all its tiles have begun.
  __device__ void end_unit(Open& open, const RunningSum& running, float (&totals)[Shape::dim / 8][4]) {
    wait_for_products<0>();
    settle(totals);
    give_back(tiles_.value_empty(open.values.at));
    const int query = query_before();
    if (schedule_.share_of(open.index).is_whole())
      write(work_at(schedule_.place(open.index)), tiles_.query(query), running, totals);
    else
      keep_part(open.index, running, totals);
    show_to_products();  // the rows of out, which lie where queries are copied to next
    give_back(tiles_.query_empty(query));
    open.index = -1;
  }

  __device__ void close(Open& open, const Factor<kType, Shape::keys>& weights, const RunningSum& running,
                        float (&totals)[Shape::dim / 8][4]) {
    add_values(open, weights, totals);
    end_unit(open, running, totals);
  }

  /// Tiles from `from` down to behind `last`, which only groups of later queries see. Who gives a tile back
  /// must have seen it come, and every group has a turn for each tile of the block.
  __device__ void skip_tiles(int from, int last) {
    for (int t = from; t > last; --t) {
      wait_for_phase(tiles_.key_full(stage_.at), stage_.phase);
      give_back(tiles_.key_empty(stage_.at));
      wait_for_phase(tiles_.value_full(stage_.at), stage_.phase);
      give_back(tiles_.value_empty(stage_.at));
      stage_.advance();
      take_turn();
      pass_turn();
    }
  }

  // Groups begin products in turns, in a ring: so one multiplies while another has its softmax.
  __device__ static int turn_of(int group) { return 1 + Shape::groups + group; }
  __device__ void take_turn() const {
    if constexpr (Shape::groups > 1) meet(turn_of(group_), 2 * kGroupThreads);
  }
  __device__ void pass_turn() const {
    if constexpr (Shape::groups > 1) pass(turn_of((group_ + 1) % Shape::groups), 2 * kGroupThreads);
  }

  /// Scores that still want factor_, which is above 0; of keys that are not seen -infinity.
  __device__ void finish_scores(const Walk& walk, int tile, float (&scores)[Shape::keys / 8][4]) const {
    if constexpr (Shape::bends) {
      bend(scores);
    } else if (args_.scale < 0) {
#pragma unroll
      for (int n = 0; n < Shape::keys / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) scores[n][i] = -scores[n][i];
    }
    if (walk.has_edge(tile)) {
      const HopperWork<Shape> work = work_at(walk.place);
      const int queries[2] = {work.rows.query(warp_row() + lane_row(0)),
                              work.rows.query(warp_row() + lane_row(1))};
      hide_unseen(LaneRows(work.band, queries), walk.first_key(tile), scores);
    }
  }

  /// cap tanh(scale x / cap), where tanh y = 1 - 2 / (1 + exp(2 y)); off by some 2^-23 cap.
  __device__ void bend(float (&scores)[Shape::keys / 8][4]) const {
    const float cap = args_.problem.softcap, slope = 2 * kLog2OfE * args_.scale / cap;
#pragma unroll
    for (int n = 0; n < Shape::keys / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        scores[n][i] = fmaf(-2 * cap, __fdividef(1.0F, 1 + fast_exp2(scores[n][i] * slope)), cap);
  }

  /// Behind the last key of a batch that is shorter than others lies what may be no number: it becomes zero.
  __device__ void wait_for_values(int there, const Stage<Shape::stages>& stage) {
    wait_for_phase(tiles_.value_full(stage.at), stage.phase);
    if (there >= Shape::keys) return;
    const int thread = static_cast<int>(threadIdx.x) % kGroupThreads;
    for (int i = thread; i < (Shape::keys - there) * Shape::dim / 8; i += kGroupThreads) {
      const int row = there + i / (Shape::dim / 8), chunk = i % (Shape::dim / 8);
      const uint32_t at = tiles_.value(stage.at) +
                          static_cast<uint32_t>(chunk / 8 * Shape::key_slice + row * 128 + chunk % 8 * 16);
      asm volatile("st.shared.v4.b32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(0) : "memory");
    }
    show_to_products();
    meet_group();
  }

  /// finish_row of the lane's row warp_row() + g + 8 half.
  __device__ float finish(const HopperWork<Shape>& work, int half, float largest, float sum) const {
    const int row = warp_row() + lane_row(half);
    return finish_row(args_, work.band, work.rows.index(args_, row), work.rows.query(row), largest, sum);
  }
  /// Of out; null where there is no such query.
  __device__ uint16_t* out_row(const HopperWork<Shape>& work, int row) const {
    if (work.rows.query(row) >= static_cast<int>(args_.queries)) return nullptr;
    return static_cast<uint16_t*>(args_.out) + work.rows.out_at(args_, row);
  }

  /// By way of the group's queries, which are needed no more.
  __device__ void write(const HopperWork<Shape>& work, uint32_t queries_at, const RunningSum& running,
                        const float (&totals)[Shape::dim / 8][4]) {
    const int row = warp_row();
    float share[2];
    bool broken[2];
    find_broken(totals, broken);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      share[half] = finish(work, half, running.largest[half] * factor_, running.sum[half]);
      if (broken[half] && share[half] > 0) tiles_.set_broken(1);
    }
    meet_group();
#pragma unroll
    for (int slice = 0; slice < Shape::slices; ++slice) {
      const uint32_t tile = queries_at + static_cast<uint32_t>(slice * Shape::query_slice);
      put_rows<kType, 64, 64>(tile, row, reinterpret_cast<const float(&)[8][4]>(totals[8 * slice]), share);
      store_rows_at<64, 64, 16>(tile, row, 8 * slice, static_cast<int>(args_.problem.head_dim),
                                [&](int own) { return out_row(work, row + own); });
    }
  }

  /// For join_parts.
  __device__ void keep_part(int index, const RunningSum& running, const float (&totals)[Shape::dim / 8][4]) {
    const int slot = schedule_.slot(index), lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row() + lane_row(half);
      const float sum = over_quad_sum(running.sum[half]);
      if (row >= parts_.rows) continue;
      if (lane % 4 == 0) parts_.sum<Shape::dim>(slot, row) = {running.largest[half] * factor_, sum};
      float* to = parts_.totals<Shape::dim>(slot, row) + 2 * (lane % 4);
#pragma unroll
      for (int n = 0; n < Shape::dim / 8; ++n)
        *reinterpret_cast<float2*>(to + 8 * n) = {totals[n][2 * half], totals[n][2 * half + 1]};
    }
  }

  /// Zeros where the group's queries see no keys.
  __device__ void write_nothing(const HopperWork<Shape>& work, int index) const {
    if (!schedule_.share_of(index).is_whole()) {
      const int row = group_ * kGroupRows + static_cast<int>(threadIdx.x) % kGroupThreads;
      if (row < min(parts_.rows, (group_ + 1) * kGroupRows))
        parts_.sum<Shape::dim>(schedule_.slot(index), row) = {-INFINITY, 0};
      return;
    }
    for (int half = 0; half < 2; ++half) finish(work, half, -INFINITY, 0);
    const int chunks = static_cast<int>(args_.problem.head_dim) / 8;
    for (int i = static_cast<int>(threadIdx.x) % 32; i < 16 * chunks; i += 32)
      if (uint16_t* const out = out_row(work, warp_row() + i / chunks))
        *reinterpret_cast<uint4*>(out + i % chunks * 8) = uint4{0, 0, 0, 0};
  }

  const FlashAttention::Args& args_;
  const Schedule& schedule_;
  const Parts& parts_;
  Tiles<Shape> tiles_;
  int group_;
  float factor_;
  Stage<Shape::queries> query_;
  Stage<Shape::stages> stage_;
};

template <DType kType, class Shape>
__device__ void attend(const FlashAttention::Args& args, const TensorMaps& maps, const Schedule& schedule,
                       const Parts& parts) {
  extern __shared__ uint4 memory[];
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const Tiles<Shape> tiles{(begin + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) tiles.make_barriers();
  if (args.query_lengths != nullptr || args.key_lengths != nullptr) pdl_wait();  // else once a unit is known
  __syncthreads();
  constexpr int kFirstCopying = Shape::groups * kGroupThreads;
  if (threadIdx.x >= kFirstCopying) {
    give_up_registers<Shape::copying_registers>();
    if (threadIdx.x == kFirstCopying) {
      bring_tiles<Shape>(args, maps, tiles, schedule);
      pdl_trigger();  // the blocks that end first leave room for who joins parts, or for the next call
    }
  } else {
    take_registers<Shape::registers>();
    Consumer<kType, Shape>(args, schedule, parts, tiles).run();
  }
}

#else

template <DType kType, class Shape>
__device__ void attend(const FlashAttention::Args&, const TensorMaps&, const Schedule&, const Parts&) {
}  // no card that runs this is given the row

#endif

template <DType kType, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    hopper_kernel(const __grid_constant__ FlashAttention::Args args, const __grid_constant__ TensorMaps maps,
                  const __grid_constant__ Schedule schedule, const __grid_constant__ Parts parts) {
  attend<kType, Shape>(args, maps, schedule, parts);
}

}  // namespace orrery::kernels::cuda::flash
