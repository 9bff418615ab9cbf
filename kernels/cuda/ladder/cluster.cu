// Step 14, cuda.cluster: two blocks share the columns of b.
//   Changed  blocks come in clusters of two, one tile below the other. Each brings its own rows of a, and
//            half of the columns of b, which the engine for tiles writes into the shared memory of both. A
//            stage is empty when all groups of both blocks have said so, in both.
//   Faster   a part costs a block 32 KB from the L2 cache instead of 48, for the same products.
//   Limit    the tensor cores, which also slow down under their own heat; c, which goes out while nobody of
//            the block multiplies; and the last wave, in which some multiprocessors have no tile.
#include <algorithm>

#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kCluster = 2;  // blocks

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ void multiply_tiles(const TileMaps& maps, const TileOrder<kCluster>& order) {
  const Ring ring = ring_of_block();
  if (threadIdx.x == 0) ring.make_barriers(Consumer<kCluster>::kReaders);
  pdl_wait();
  cluster_sync();  // nobody arrives at a barrier of the other before it is made
  const int clusters = static_cast<int>(gridDim.x) / kCluster;
  const int cluster = static_cast<int>(blockIdx.x) / kCluster, rank = cluster_rank();
  if (threadIdx.x < kGroupThreads) {
    give_up_registers<kBringerRegisters>();
    Producer<kCluster> producer{maps, ring, {}};
    if (threadIdx.x == 0)
      for (int index = cluster; index < order.count(); index += clusters)
        producer.bring(order.piece(index, rank));
  } else {
    take_registers<kMultiplierRegisters>();
    Consumer<kCluster> consumer{ring, static_cast<int>(threadIdx.x) / kGroupThreads - 1, {}};
    for (int index = cluster; index < order.count(); index += clusters) {
      const Piece piece = order.piece(index, rank);
      GroupSums sums = {};
      consumer.add(piece, sums);
      consumer.store(maps.c, piece, sums);
    }
    consumer.finish();
  }
  __syncwarp();
  cluster_sync();  // nobody goes while the other may still arrive at its barriers
}

#else
__device__ void multiply_tiles(const TileMaps&, const TileOrder<kCluster>&) {
}  // no card that runs this is given the row
#endif

__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    cluster_kernel(const __grid_constant__ TileMaps maps, const TileOrder<kCluster> order) {
  multiply_tiles(maps, order);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const Operands<__nv_bfloat16> o = halves_of(args);
  const TileOrder<kCluster> order(args.problem);
  const int clusters = std::min(order.count(), std::max(current_card().multiprocessors / kCluster, 1));
  launch_clusters(launch, cluster_kernel, kCluster, dim3(static_cast<unsigned>(clusters * kCluster)),
                  dim3(kSpecialisedThreads), kRingShared, make_maps(o), order);
}

}  // namespace

Row<MatmulLadder> cluster_row() {
  return {.name = "cuda.cluster",
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::bf16>,
          .run = run,
          .arithmetic = Arithmetic::bf16,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/cluster.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
