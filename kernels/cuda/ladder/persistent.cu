// Step 13, cuda.persistent: a block goes on to the next tile.
//   Changed  as many blocks as the card has multiprocessors, each of which takes every so manieth tile, in an
//            order that keeps what runs at the same time close together in c. Sums leave by way of shared
//            memory, 32 columns at a time, from where the engine for tiles writes them.
//   Faster   the thread that brings parts does not know where a tile ends: while sums are written, the first
//            four parts of the next tile arrive, and no block has to start. The writes themselves run beside
//            the next products. Neighbours read the same rows and columns while the L2 cache has them.
//   Limit    each block brings its 256 columns of b itself, though the one beside it brings the same ones: 48
//            KB a part is about all that the L2 cache gives 132 multiprocessors in the time.
#include <algorithm>

#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ void multiply_tiles(const TileMaps& maps, const TileOrder<1>& order) {
  const Ring ring = ring_of_block();
  if (threadIdx.x == 0) ring.make_barriers(Consumer<1>::kReaders);
  pdl_wait();
  __syncthreads();
  const auto blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  if (threadIdx.x < kGroupThreads) {
    give_up_registers<kBringerRegisters>();
    Producer<1> producer{maps, ring, {}};
    if (threadIdx.x == 0)
      for (int index = block; index < order.count(); index += blocks) producer.bring(order.piece(index, 0));
  } else {
    take_registers<kMultiplierRegisters>();
    Consumer<1> consumer{ring, static_cast<int>(threadIdx.x) / kGroupThreads - 1, {}};
    for (int index = block; index < order.count(); index += blocks) {
      const Piece piece = order.piece(index, 0);
      GroupSums sums = {};
      consumer.add(piece, sums);
      consumer.store(maps.c, piece, sums);
    }
    consumer.finish();
  }
}

#else
__device__ void multiply_tiles(const TileMaps&, const TileOrder<1>&) {
}  // no card that runs this is given the row
#endif

__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    persistent_kernel(const __grid_constant__ TileMaps maps, const TileOrder<1> order) {
  multiply_tiles(maps, order);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const Operands<__nv_bfloat16> o = halves_of(args);
  const TileOrder<1> order(args.problem);
  const int blocks = std::min(order.count(), current_card().multiprocessors);
  launch_kernel(launch, persistent_kernel, dim3(static_cast<unsigned>(blocks)), dim3(kSpecialisedThreads),
                kRingShared, make_maps(o), order);
}

}  // namespace

Row<MatmulLadder> persistent_row() {
  return {.name = "cuda.persistent",
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::bf16>,
          .run = run,
          .arithmetic = Arithmetic::bf16,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/persistent.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
