// Launches attention over packed keys (attention_packed.cuh).
#include "kernels/cuda/attention_packed.cuh"

#include "kernels/cuda/attention_paths.h"

namespace orrery::kernels::cuda {
namespace {

template <int kDim>
void start(const Attention::Args& args, const Launch& launch) {
  const auto kv_heads = static_cast<unsigned>(args.problem.kv_heads);
  launch_kernel(launch, packed::attend<kDim>, dim3(tile_bound(args, packed::kRows) * kv_heads),
                dim3(packed::kThreads), packed::Sizes<kDim>::shared_bytes, args, Logit::of(args));
}

}  // namespace

void attend_packed(const Attention::Args& args, const Launch& launch) {
  if (args.problem.head_dim <= 32) return start<32>(args, launch);
  if (args.problem.head_dim <= 64) return start<64>(args, launch);
  if (args.problem.head_dim <= 96) return start<96>(args, launch);
  start<128>(args, launch);
}

}  // namespace orrery::kernels::cuda
