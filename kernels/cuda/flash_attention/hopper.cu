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

/// function.operator()<Shape>() of the shape that HopperShapes has for the call. Three groups pay where their
/// rows are not mostly beyond the last query.
template <class Function>
auto with_hopper_shape(const FlashAttention::Problem& problem, int64_t queries, Function&& function) {
  const bool bends = problem.softcap > 0;
  if (problem.head_dim > 128)
    return bends ? function.template operator()<BentShape<256>>()
                 : function.template operator()<HopperShapes::Of256>();
  if (problem.head_dim > 64) {
    return bends ? function.template operator()<BentShape<128>>()
                 : function.template operator()<HopperShapes::Of128>();
  }
  if (bends) return function.template operator()<BentShape<64>>();
  using Long = HopperShapes::Full64;
  using Short = HopperShapes::Short64;
  const auto padded = [&](int rows) { return int64_t{rows} * tiles_of(queries, rows); };
  if (16 * padded(Short::rows) < 15 * padded(Long::rows)) return function.template operator()<Short>();
  return function.template operator()<Long>();
}

/// Heads are taken one after the other where their tiles take equally long. Else so many together that there
/// are several times as many units as blocks, in sections of about the same size: as many as the L2 cache
/// holds, of longer heads twice as many, as blocks walk over the same keys at about the same time.
Schedule hopper_schedule(const FlashAttention::Args& args, int rows) {
  const FlashAttention::Problem& problem = args.problem;
  const int64_t heads = args.batch * problem.heads;
  int64_t section = 1;
  if (problem.causal && problem.window_left < 0) {
    const int64_t group = problem.heads / problem.kv_heads, kv_heads = heads / group;
    const int64_t bytes = std::max<int64_t>(4 * args.keys * problem.head_dim, 1);  // of keys and values
    const int64_t cached = cached_bytes(current_card());
    const int64_t caches = problem.head_dim > 64 ? 2 : 1;
    const int64_t most = std::clamp<int64_t>(caches * cached / bytes, 1, kv_heads);
    const int64_t sections = (kv_heads + most - 1) / most;
    section = (kv_heads + sections - 1) / sections * group;
  }
  return {tiles_of(args.queries, rows), static_cast<int>(heads), static_cast<int>(section)};
}

template <DType kType>
void start_hopper(const FlashAttention::Args& args, const Launch& launch) {
  with_hopper_shape(args.problem, args.queries, [&]<class Shape>() {
    const TensorMaps maps = make_maps(args, Shape::rows, Shape::keys);
    const Schedule schedule = hopper_schedule(args, Shape::rows);
    const int blocks = std::min(schedule.tiles * schedule.heads, current_card().multiprocessors);
    launch_kernel(launch, hopper_kernel<kType, Shape>, dim3(static_cast<unsigned>(blocks)),
                  dim3(Shape::threads), Shape::shared_bytes, args, maps, schedule);
  });
}

void run_hopper(const FlashAttention::Args& args, const Launch& launch) {
  if (args.batch <= 0 || args.queries <= 0) return;
  require_aligned(lies_in_chunks(args));
  args.problem.dtype == DType::f16 ? start_hopper<DType::f16>(args, launch)
                                   : start_hopper<DType::bf16>(args, launch);
}

#ifdef ORRERY_CUDA_90A
constexpr bool kHopperBuilt = true;
#else
constexpr bool kHopperBuilt = false;
#endif

std::string hopper_supports(const FlashAttention::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (machine.card.capability != 90)
    return "needs products of four warps, which cards of capability 9.0 have";
  if (!kHopperBuilt) return "the module was built without code for 9.0's own instructions (architecture 90a)";
  if (problem.has_bias || problem.has_mask || problem.drops) return "takes no bias, mask or dropout";
  const size_t bytes =
      with_hopper_shape(problem, problem.queries, [&]<class Shape>() { return Shape::shared_bytes; });
  return without_mma(problem, bytes, machine);
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
          .arithmetic = Arithmetic::bf16,
          .rounding = hopper_rounding,
          .source = "cuda/flash_attention/hopper.cu"};
}

}  // namespace orrery::kernels::cuda::flash
