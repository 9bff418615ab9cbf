// Launches attention of many queries (attention_tiles.cuh).
#include "kernels/cuda/attention_paths.h"
#include "kernels/cuda/attention_shapes.h"
#include "kernels/cuda/attention_tiles.cuh"

namespace orrery::kernels::cuda {
namespace {

template <DType kKv, int kDim, int kKeys>
void start(const Attention::Args& args, const Launch& launch, int least) {
  const dim3 grid(tile_bound(args, tiles::kRows), static_cast<unsigned>(args.problem.kv_heads));
  launch_kernel(launch, tiles::attend<kKv, kDim, kKeys>, grid, dim3(tiles::kThreads),
                tiles::Sizes<kKv, kDim, kKeys>::shared_bytes, args, Logit::of(args), least);
}

}  // namespace

size_t tiles_shared_bytes(const Attention::Problem& problem) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    return tiles::Sizes<kKv, kDim, tiles::kKeysOf<kDim> / 2>::shared_bytes;
  });
}

void attend_tiles(const Attention::Args& args, const Launch& launch, int least) {
  with_head(args.problem, [&]<DType kKv, int kDim>() {
    constexpr int kKeys = tiles::kKeysOf<kDim>;
    if (tiles::Sizes<kKv, kDim, kKeys>::shared_bytes <= current_card().shared_per_block)
      start<kKv, kDim, kKeys>(args, launch, least);
    else
      start<kKv, kDim, kKeys / 2>(args, launch, least);
  });
}

}  // namespace orrery::kernels::cuda
