// The backward row cuda.flash_hopper (hopper_backward.cuh has its kernel).
#include <algorithm>
#include <string>

#include "kernels/cuda/flash_attention/hopper_backward.cuh"
#include "kernels/cuda/flash_attention/rows.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda::flash {
namespace {

/// Tiles are as large as registers allow.
struct GradShapes128 {
  using Keys = HopperGradShape<128, true, 2, 64, 4>;
  using Queries = HopperGradShape<128, false, 2, 64, 4>;
};
struct GradShapes64 {
  using Keys = HopperGradShape<64, true, 2, 96, 4>;
  using Queries = HopperGradShape<64, false, 2, 128, 3>;
};
/// Of short heads, or few: two small blocks on a multiprocessor, so that one begins or ends beside the other.
struct ShortGradShapes64 {
  using Keys = HopperGradShape<64, true, 1, 64, 4>;
  using Queries = HopperGradShape<64, false, 1, 64, 4>;
};

/// function.operator()<Shapes>() of the shapes that a call takes.
template <class Function>
auto with_grad_shapes(const FlashAttention::Problem& problem, int64_t batch, int64_t queries, int64_t keys,
                      Function&& function) {
  constexpr int64_t kShort = 1024;
  if (problem.head_dim > 64) return function.template operator()<GradShapes128>();
  const int64_t rows = std::min(queries * problem.heads, keys * problem.kv_heads) * batch;
  if (std::max(queries, keys) <= kShort || rows <= GradShapes64::Keys::own * current_card().multiprocessors)
    return function.template operator()<ShortGradShapes64>();
  return function.template operator()<GradShapes64>();
}

/// Heads are taken one after the other where their tiles take equally long, or are so many that what is left
/// at the end does not count. Else as many together as have the others in the L2 cache, in sections of about
/// the same size.
template <class Shape>
GradSchedule grad_schedule(const FlashAttention::Args& args) {
  const FlashAttention::Problem& problem = args.problem;
  const int64_t group = problem.heads / problem.kv_heads, kv_heads = args.batch * problem.kv_heads;
  const int64_t each = Shape::owns_keys ? 1 : group;  // heads that walk over the same others
  constexpr int kManyRounds = 24;
  const int tiles = tiles_of(Shape::owns_keys ? args.keys : args.queries, Shape::own);
  const int64_t heads = kv_heads * each;
  int64_t section = 1;
  if (problem.causal && problem.window_left < 0 &&
      tiles * heads < int64_t{kManyRounds} * current_card().multiprocessors) {
    const int64_t rows = Shape::owns_keys ? args.queries * group : args.keys;
    const int64_t bytes = std::max<int64_t>(4 * rows * problem.head_dim, 1);
    const int64_t most = std::clamp<int64_t>(cached_bytes(current_card()) / bytes, 1, kv_heads);
    const int64_t sections = (kv_heads + most - 1) / most;
    section = (kv_heads + sections - 1) / sections * each;
  }
  return {tiles, static_cast<int>(heads), static_cast<int>(section)};
}

template <DType kType, class Shape>
void start_grads(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const GradMaps maps = make_grad_maps(args, Shape::owns_keys ? Shape::others : Shape::own,
                                       Shape::owns_keys ? Shape::own : Shape::others);
  const GradSchedule schedule = grad_schedule<Shape>(args.forward);
  launch_kernel(launch, hopper_grad_kernel<kType, Shape>,
                dim3(static_cast<unsigned>(schedule.tiles * schedule.heads)), dim3(Shape::threads),
                Shape::shared_bytes, args, maps, reinterpret_cast<const float*>(launch.workspace), schedule);
}

template <DType kType>
void start_hopper_backward(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const FlashAttention::Args& forward = args.forward;
  with_grad_shapes(forward.problem, forward.batch, forward.queries, forward.keys, [&]<class Shapes>() {
    if (args.grad_query != nullptr) start_grads<kType, typename Shapes::Queries>(args, launch);
    if (args.grad_key != nullptr || args.grad_value != nullptr)
      start_grads<kType, typename Shapes::Keys>(args, launch);
  });
}

void run_hopper_backward(const FlashAttentionBackward::Args& args, const Launch& launch) {
  if (args.forward.batch <= 0) return;
  require_aligned(lies_in_chunks(args.forward) && lies_in_chunks(args.grad_out, args.grad_out_strides) &&
                  is_aligned(args.grad_query) && is_aligned(args.grad_key) && is_aligned(args.grad_value));
  begin_backward(args, launch);
  args.forward.problem.dtype == DType::f16 ? start_hopper_backward<DType::f16>(args, launch)
                                           : start_hopper_backward<DType::bf16>(args, launch);
}

std::string hopper_backward_supports(const FlashAttentionBackward::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = without_warpgroups(machine.card); !reason.empty()) return reason;
  const FlashAttention::Problem& forward = problem.forward;
  if (problem.wants_bias || forward.has_bias || forward.has_mask || forward.drops || forward.softcap > 0)
    return "takes no bias, mask, softcap or dropout";
  if (forward.head_dim > 128) return "takes heads of up to 128 elements";
  using Shapes = GradShapes128;  // the largest
  const size_t bytes = std::max(Shapes::Keys::shared_bytes, Shapes::Queries::shared_bytes);
  return without_mma(forward, bytes, machine);
}

Rounding hopper_backward_rounding(const FlashAttentionBackward::Problem& problem, int) {
  return {.activations = rounded_to(problem.forward)};
}

}  // namespace

Row<FlashAttentionBackward> hopper_backward_row() {
  return {.name = "cuda.flash_hopper",
          .device = DeviceKind::cuda,
          .supports = hopper_backward_supports,
          .run = run_hopper_backward,
          .workspace = grad_sums_bytes,
          .arithmetic = Arithmetic::bf16,
          .rounding = hopper_backward_rounding,
          .source = "cuda/flash_attention/hopper_backward.cu"};
}

}  // namespace orrery::kernels::cuda::flash
