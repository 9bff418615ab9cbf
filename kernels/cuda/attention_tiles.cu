// Launches attention of many queries (attention_tiles.cuh).
#include "kernels/cuda/attention_paths.h"
#include "kernels/cuda/attention_tiles.cuh"

namespace orrery::kernels::cuda {
namespace {

template <DType kKv, int kDim>
void start(const Attention::Args& args, const Launch& launch, int least) {
  const dim3 grid(tile_bound(args, tiles::kRows), static_cast<unsigned>(args.problem.kv_heads));
  launch_kernel(launch, tiles::attend<kKv, kDim>, grid, dim3(tiles::kThreads),
                tiles::Sizes<kKv, kDim>::shared_bytes, args, Logit::of(args), least);
}

template <DType kKv>
void start(const Attention::Args& args, const Launch& launch, int least) {
  if (args.problem.head_dim <= 64) return start<kKv, 64>(args, launch, least);
  if (args.problem.head_dim <= 128) return start<kKv, 128>(args, launch, least);
  start<kKv, 256>(args, launch, least);
}

}  // namespace

void attend_tiles(const Attention::Args& args, const Launch& launch, int least) {
  if (args.problem.kv == DType::bf16) return start<DType::bf16>(args, launch, least);
  start<DType::f16>(args, launch, least);
}

}  // namespace orrery::kernels::cuda
