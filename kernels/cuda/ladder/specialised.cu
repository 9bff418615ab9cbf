// Step 12, cuda.specialised: who brings tiles does nothing else.
//   Changed  a third group of four warps, of which one thread asks for the parts; the two others multiply.
//            They do not meet any more: a stage's barriers tell the one side that its part has come and the
//            other that it may be overwritten. The third group gives its registers up to the two that hold
//            sums (setmaxnreg).
//   Faster   a group goes on as soon as its own next part is there, up to four parts ahead of the other, so
//            that the tensor cores always have products of one group or the other before them. The copies are
//            asked for the moment that a stage is empty.
//   Limit    the ends of a block: nothing is multiplied while its first parts are on their way, nor while it
//            writes 128 KB of c, and both happen for each tile anew. In the last wave some blocks have none.
#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ void multiply_block(const TileMaps& maps, const Operands<__nv_bfloat16>& o) {
  const Ring ring = ring_of_block();
  if (threadIdx.x == 0) ring.make_barriers(Consumer<1>::kReaders);
  pdl_wait();
  __syncthreads();
  const Piece piece{static_cast<int>(blockIdx.y) * kTileRows, static_cast<int>(blockIdx.x) * kTileCols, 0,
                    (o.k + kTileDepth - 1) / kTileDepth};
  if (threadIdx.x < kGroupThreads) {
    give_up_registers<kBringerRegisters>();
    Producer<1> producer{maps, ring, {}};
    if (threadIdx.x == 0) producer.bring(piece);
  } else {
    take_registers<kMultiplierRegisters>();
    Consumer<1> consumer{ring, static_cast<int>(threadIdx.x) / kGroupThreads - 1, {}};
    GroupSums sums = {};
    consumer.add(piece, sums);
    store_pairs(o, piece, consumer.group, sums);
  }
}

#else
__device__ void multiply_block(const TileMaps&, const Operands<__nv_bfloat16>&) {
}  // no card that runs this is given the row
#endif

__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    specialised_kernel(const __grid_constant__ TileMaps maps, const Operands<__nv_bfloat16> o) {
  multiply_block(maps, o);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const Operands<__nv_bfloat16> o = halves_of(args);
  launch_kernel(launch, specialised_kernel, dim3(blocks_of(o.n, kTileCols), blocks_of(o.m, kTileRows)),
                dim3(kSpecialisedThreads), kRingShared, make_maps(o), o);
}

}  // namespace

Row<MatmulLadder> specialised_row() {
  return {.name = "cuda.specialised",
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::bf16>,
          .run = run,
          .arithmetic = Arithmetic::bf16,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/specialised.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
