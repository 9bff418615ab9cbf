// The row cuda.flash_hopper (hopper.cuh has its kernel): which shape of tiles a call takes, and who computes
// what.
#include <algorithm>
#include <string>

#include "kernels/cuda/flash_attention/hopper.cuh"
#include "kernels/cuda/flash_attention/rows.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda::flash {
namespace {

/// Tiles are as large as registers and shared memory allow beside the next queries. Short heads have smaller
/// ones, of which less lies beyond an edge.
struct HopperShapes {
  using Full64 = HopperShape<64, 128, 3, 2>;
  using Short64 = HopperShape<64, 64, 4, 2>;
  using Of128 = HopperShape<128, 128, 2, 2>;
  using Of256 = HopperShape<256, 64, 2>;
};

/// With a softcap, which takes registers and is not what rates are measured at.
template <int kDim>
using BentShape = HopperShape<kDim, kDim == 256 ? 64 : 128, 2, 1, true>;

/// For few queries, of heads that share keys. Tiles of keys are short, so that blocks get nearly equal shares
/// of them; a group without queries passes them by.
template <int kDim>
using JoinedShape = HopperShape<kDim, 64, 2, 1, false, true>;

/// For queries that a single group has room for, of all heads that share keys, with so little memory that the
/// kernel that follows begins beside it.
template <int kDim>
using FewShape = HopperShape<kDim, 64, 1, 1, false, true>;
/// Of all heads: with more of them the beginning counts less than how many tiles are on their way.
constexpr int64_t kFewKeys = int64_t{1} << 20;

/// How many query heads share a tile of JoinedShape or FewShape; 1: none do. With few queries the tile of a
/// single head is mostly empty, and keys are read again for every head. Joining pays where it at least halves
/// the tiles.
int joined_heads(const FlashAttention::Problem& problem, int64_t queries) {
  constexpr int kRows = JoinedShape<64>::rows;
  const int64_t group = problem.heads / problem.kv_heads;
  if (problem.softcap > 0) return 1;
  for (int64_t joined = group; joined > 1; --joined) {
    const bool fits = kRows % joined == 0 || queries * joined <= kRows;
    if (group % joined == 0 && fits &&
        2 * tiles_of(queries * joined, kRows) <= joined * tiles_of(queries, kRows))
      return static_cast<int>(joined);
  }
  return 1;
}

/// What a call has; of a problem, what it has at most.
struct Extent {
  int64_t batch, queries, keys;

  template <class Of>
  explicit Extent(const Of& of) : batch(of.batch), queries(of.queries), keys(of.keys) {}
};

template <int kDim>
bool is_few(const FlashAttention::Problem& problem, const Extent& extent, int joined) {
  constexpr bool kLacksStages = FewShape<kDim>::stages < JoinedShape<kDim>::stages;
  return extent.queries * joined <= FewShape<kDim>::rows &&
         !(kLacksStages && extent.batch * problem.kv_heads * extent.keys > kFewKeys);
}

/// function.operator()<Shape>() of the shape that is for the call. With 64 dims three groups pay where their
/// rows are not mostly beyond the last query.
template <class Function>
auto with_hopper_shape(const FlashAttention::Problem& problem, const Extent& extent, Function&& function) {
  const auto pick = [&]<int kDim, class Plain>() {
    if (problem.softcap > 0) return function.template operator()<BentShape<kDim>>();
    const int joined = joined_heads(problem, extent.queries);
    if (is_few<kDim>(problem, extent, joined)) return function.template operator()<FewShape<kDim>>();
    if (joined > 1) return function.template operator()<JoinedShape<kDim>>();
    return function.template operator()<Plain>();
  };
  using Long = HopperShapes::Full64;
  using Short = HopperShapes::Short64;
  if (problem.head_dim > 128) return pick.template operator()<256, HopperShapes::Of256>();
  if (problem.head_dim > 64) return pick.template operator()<128, HopperShapes::Of128>();
  const auto padded = [&](int rows) { return int64_t{rows} * tiles_of(extent.queries, rows); };
  if (16 * padded(Short::rows) < 15 * padded(Long::rows)) return pick.template operator()<64, Short>();
  return pick.template operator()<64, Long>();
}

/// Whether the tiles of queries of a head see about as many keys each.
bool takes_equally_long(const FlashAttention::Problem& problem, int64_t queries, int64_t keys) {
  return !problem.causal || problem.window_left >= 0 || 8 * queries <= keys;
}

/// Of the units of a call, or of its last rounds, as many as all blocks are to share: those of the round that
/// would not be full, and of the one before it; none where that saves less than joining the parts takes.
template <class Shape>
void share_units(const FlashAttention::Args& args, Schedule& schedule) {
  constexpr int64_t kLeastTiles = 2, kJoining = 8;  // tiles of keys; the time of so many
  const FlashAttention::Problem& problem = args.problem;
  const int64_t units = int64_t{schedule.tiles} * schedule.heads, card = current_card().multiprocessors;
  const int64_t most = units > card ? card * Shape::blocks : card;
  schedule.blocks = static_cast<int>(std::min(units, most));
  schedule.shared = 0;
  if (!takes_equally_long(problem, args.queries, args.keys)) return;
  int64_t seen = args.keys;
  if (problem.window_left >= 0 && (problem.causal || problem.window_right >= 0)) {
    const auto near = [&](int64_t window) { return std::clamp<int64_t>(window, 0, args.keys); };
    seen = std::min(seen, near(problem.window_left) + near(problem.window_right) + schedule.queries);
  }
  const int64_t tiles = seen / Shape::keys, rest = units % most;
  int64_t blocks = units < most ? std::clamp(units * tiles / kLeastTiles, units, most) : most;
  // So many of each unit, where that leaves few of them idle: a block with parts of two takes longer.
  if (units < most && 16 * (blocks % units) <= blocks) blocks -= blocks % units;
  if (rest == 0 || tiles * (blocks - rest) < kJoining * blocks) return;
  schedule.blocks = static_cast<int>(blocks);
  schedule.shared = static_cast<int>(units < most ? units : most + rest);
}

/// Heads are taken one after the other where their tiles take equally long. Else so many together that there
/// are several times as many units as blocks, in sections of about the same size: as many as the L2 cache
/// holds, of longer heads twice as many, as blocks walk over the same keys at about the same time.
template <class Shape>
Schedule hopper_schedule(const FlashAttention::Args& args) {
  const FlashAttention::Problem& problem = args.problem;
  const int joined = Shape::joins ? joined_heads(problem, args.queries) : 1, queries = Shape::rows / joined;
  const int64_t heads = args.batch * problem.heads / joined;
  int64_t section = 1;
  if (!takes_equally_long(problem, args.queries, args.keys)) {
    const int64_t group = problem.heads / problem.kv_heads / joined, kv_heads = heads / group;
    const int64_t bytes = std::max<int64_t>(4 * args.keys * problem.head_dim, 1);  // of keys and values
    const int64_t cached = cached_bytes(current_card());
    const int64_t caches = problem.head_dim > 64 ? 2 : 1;
    const int64_t most = std::clamp<int64_t>(caches * cached / bytes, 1, kv_heads);
    const int64_t sections = (kv_heads + most - 1) / most;
    section = (kv_heads + sections - 1) / sections * group;
  }
  Schedule schedule{tiles_of(args.queries, queries), static_cast<int>(heads), static_cast<int>(section),
                    joined, queries};
  share_units<Shape>(args, schedule);
  return schedule;
}

template <DType kType>
void start_hopper(const FlashAttention::Args& args, const Launch& launch) {
  with_hopper_shape(args.problem, Extent(args), [&]<class Shape>() {
    const Schedule schedule = hopper_schedule<Shape>(args);
    const TensorMaps maps =
        make_maps(args, Shape::joins ? schedule.joined : 0, schedule.queries, Shape::keys);
    const Parts parts{reinterpret_cast<float*>(launch.workspace),
                      static_cast<int>(std::min<int64_t>(args.queries * schedule.joined, Shape::rows))};
    launch_kernel(launch, hopper_kernel<kType, Shape>, dim3(static_cast<unsigned>(schedule.blocks)),
                  dim3(Shape::threads), Shape::shared_bytes, args, maps, schedule, parts);
    if (schedule.shared > 0)
      launch_kernel(launch, join_kernel<kType, Shape::dim>,
                    dim3(static_cast<unsigned>(tiles_of(parts.rows, kJoinWarps)),
                         static_cast<unsigned>(schedule.shared)),
                    dim3(kJoinWarps * kWarp), 0, args, schedule, parts);
  });
}

void run_hopper(const FlashAttention::Args& args, const Launch& launch) {
  if (args.batch <= 0 || args.queries <= 0) return;
  require_aligned(lies_in_chunks(args));
  args.problem.dtype == DType::f16 ? start_hopper<DType::f16>(args, launch)
                                   : start_hopper<DType::bf16>(args, launch);
}

std::string hopper_supports(const FlashAttention::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = without_warpgroups(machine.card); !reason.empty()) return reason;
  if (problem.has_bias || problem.has_mask || problem.drops) return "takes no bias, mask or dropout";
  const size_t bytes =
      with_hopper_shape(problem, Extent(problem), [&]<class Shape>() { return Shape::shared_bytes; });
  return without_mma(problem, bytes, machine);
}

/// What blocks leave of parts, of which each has two at most.
size_t hopper_workspace(const FlashAttention::Problem& problem, const Machine& machine, int) {
  const int64_t rows = problem.queries * (problem.heads / problem.kv_heads);
  const auto floats = [&]<class Shape>() {
    return Shape::blocks * Parts::floats(std::min<int64_t>(rows, Shape::rows), Shape::dim);
  };
  const auto most = [&]<class... Shapes>() { return std::max({floats.template operator()<Shapes>()...}); };
  // Calls with less than the problem tells may have other shapes than that.
  const int64_t needed =
      problem.head_dim > 128  ? most.template operator()<HopperShapes::Of256, FewShape<256>>()
      : problem.head_dim > 64 ? most.template operator()<HopperShapes::Of128, FewShape<128>>()
                              : most.template operator()<HopperShapes::Short64, FewShape<64>>();
  return 2 * sizeof(float) * static_cast<size_t>(machine.card.multiprocessors * needed);
}

Rounding hopper_rounding(const FlashAttention::Problem& problem, int) {
  return {.activations = rounded_to(problem)};
}

}  // namespace

Row<FlashAttention> hopper_row() {
  return {.name = "cuda.flash_hopper",
          .device = DeviceKind::cuda,
          .supports = hopper_supports,
          .run = run_hopper,
          .workspace = hopper_workspace,
          .arithmetic = Arithmetic::bf16,
          .rounding = hopper_rounding,
          .source = "cuda/flash_attention/hopper.cu"};
}

}  // namespace orrery::kernels::cuda::flash
