// Step 11, cuda.tma: the card's engine for tiles copies.
//   Changed  one thread asks for a whole part, five boxes of rows of 128 bytes, by where they lie in the
//            matrices; the engine works the addresses out, swizzles the rows and puts zeros beyond the edges.
//            A barrier in shared memory counts the bytes and tells when all are there. A block's tile of c is
//            as large as before but lies the other way: 128 x 256, 64 x 256 of them a group's.
//   Faster   what were 24 copies of each thread in every part, each with an address of its own, is one wait;
//            and a product of 256 columns reads less of shared memory for what it multiplies (tiles.cuh).
//   Limit    all threads still meet in each part before the oldest one is overwritten, so that the slower
//            group holds up the faster one and the thread that asks for the next part.
#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kThreads = kGroups * kGroupThreads;

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ void multiply_block(const TileMaps& maps, const Operands<__nv_bfloat16>& o) {
  const Ring ring = ring_of_block();
  if (threadIdx.x == 0) ring.make_barriers(1);  // those of empty stages are not used yet
  pdl_wait();
  __syncthreads();
  const int count = (o.k + kTileDepth - 1) / kTileDepth;
  const Piece piece{static_cast<int>(blockIdx.y) * kTileRows, static_cast<int>(blockIdx.x) * kTileCols, 0,
                    count};
  const auto bring = [&](int part) {
    if (threadIdx.x > 0 || part >= count) return;
    const int stage = part % kRing, depth = part * kTileDepth;
    const uint32_t full = ring.full(stage);
    arrive_expecting(full, kPartBytes);
    copy_box(ring.a(stage), maps.a, depth, piece.row, full);
    for (int slice = 0; slice < kSlices; ++slice)
      copy_box(ring.b(stage) + static_cast<uint32_t>(slice * kSliceBytes), maps.b, piece.col + 64 * slice,
               depth, full);
  };
  for (int part = 0; part < kRing; ++part) bring(part);
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  GroupSums sums = {};
  for (int part = 0; part < count; ++part) {
    wait_for_phase(ring.full(part % kRing), static_cast<unsigned>(part / kRing % 2));
    begin_part(ring, part % kRing, group, sums);
    wait_for_products<1>();
    __syncthreads();  // the products of the part before are done, everyone's
    if (part > 0) bring(part - 1 + kRing);
  }
  wait_for_products<0>();
  settle(sums);
  store_pairs(o, piece, group, sums);
}

#else
__device__ void multiply_block(const TileMaps&, const Operands<__nv_bfloat16>&) {
}  // no card that runs this is given the row
#endif

__global__ void __launch_bounds__(kThreads, 1)
    tma_kernel(const __grid_constant__ TileMaps maps, const Operands<__nv_bfloat16> o) {
  multiply_block(maps, o);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const Operands<__nv_bfloat16> o = halves_of(args);
  launch_kernel(launch, tma_kernel, dim3(blocks_of(o.n, kTileCols), blocks_of(o.m, kTileRows)),
                dim3(kThreads), kRingShared, make_maps(o), o);
}

}  // namespace

Row<MatmulLadder> tma_row() {
  return {.name = "cuda.tma",
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::bf16>,
          .run = run,
          .arithmetic = Arithmetic::bf16,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/tma.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
