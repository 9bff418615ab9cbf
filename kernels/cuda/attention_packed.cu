// Launches attention over packed keys (attention_packed.cuh).
#include "kernels/cuda/attention_packed.cuh"

#include "kernels/cuda/attention_paths.h"

namespace orrery::kernels::cuda {
namespace {

template <class Function>
auto with_packed_head(const Attention::Problem& problem, Function&& function) {
  if (problem.head_dim <= 32) return function.template operator()<32>();
  if (problem.head_dim <= 64) return function.template operator()<64>();
  if (problem.head_dim <= 96) return function.template operator()<96>();
  return function.template operator()<128>();
}

template <int kDim>
void start(const Attention::Args& args, const Launch& launch) {
  const auto kv_heads = static_cast<unsigned>(args.problem.kv_heads);
  launch_kernel(launch, packed::attend<kDim>, dim3(tile_bound(args, packed::kRows) * kv_heads),
                dim3(packed::kThreads), packed::Sizes<kDim>::shared_bytes, args, Logit::of(args));
}

}  // namespace

size_t packed_shared_bytes(const Attention::Problem& problem) {
  return with_packed_head(problem, [&]<int kDim>() { return packed::Sizes<kDim>::shared_bytes; });
}

void attend_packed(const Attention::Args& args, const Launch& launch) {
  with_packed_head(args.problem, [&]<int kDim>() { start<kDim>(args, launch); });
}

}  // namespace orrery::kernels::cuda
