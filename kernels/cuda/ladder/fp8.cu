// Steps 17 and 18, cuda.fp8 and cuda.fp8_short: 8-bit floats on the same road.
//   Changed  products of four warps of e4m3, in blocks, clusters and tiles as those of cuda.cluster; a part
//            is 128 steps of k. These products read b along k only, and b lies so (matmul_ladder.h): nothing
//            is turned. What they add up in keeps some 14 bits, and the rest is cut off with every 32 steps
//            of k: of 16,384 products that are all positive a third is lost, as a sum that has grown takes
//            no small ones any more. cuda.fp8 therefore has them add up the 128 steps of a part from zero
//            and adds those sums to its own, in float32; one half of the columns after the other, as
//            registers do not hold a second set of sums. cuda.fp8_short leaves all of k to them.
//   Faster   than bf16, as a part of as many bytes, and a product of as many cycles, have twice the steps
//            of k. The additions of cuda.fp8 cost a seventeenth: while one group adds, the other multiplies.
//   Limit    the tensor cores under their own heat (what 4,096 take 100 us for is 69 us at their full
//            clock), and c, which goes out twice as fast as that of bf16 while its block multiplies nothing.
#include <algorithm>

#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kCluster = 2;  // blocks
constexpr int kDepth = 128;  // steps of k in a part

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

constexpr int kSteps = kDepth / 32;

/// Where the group's rows of a part of a begin.
__device__ uint64_t rows_of_a(const Consumer<kCluster>& consumer) {
  return descriptor(made_here(consumer.ring.a(consumer.stage.at) +
                              static_cast<uint32_t>(consumer.group * kGroupRows * 128)));
}

/// Adds a tile up in the tensor cores; the products of a part begin before those of the one before are done.
__device__ void add_there(Consumer<kCluster>& consumer, const Piece& piece, GroupSums& sums) {
  Stage<kRing>& stage = consumer.stage;
  int before = -1;
  for (int part = piece.first; part < piece.end; ++part) {
    wait_for_phase(consumer.ring.full(stage.at), stage.phase);
    const uint64_t a = rows_of_a(consumer), b = descriptor(made_here(consumer.ring.b(stage.at)));
    before_products();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      begin_f8_product(sums, further(a, step * 32), further(b, step * 32), true);
    end_of_products();
    if (before >= 0) {
      wait_for_products<1>();
      consumer.release(before);
    }
    before = stage.at;
    stage.advance();
  }
  wait_for_products<0>();
  settle(sums);
  consumer.release(before);
}

/// Adds a tile up in registers, from sums of a part.
__device__ void add_here(Consumer<kCluster>& consumer, const Piece& piece, GroupSums& sums) {
  constexpr int kHalf = kTileCols / 8 / 2;
  Stage<kRing>& stage = consumer.stage;
  for (int part = piece.first; part < piece.end; ++part) {
    wait_for_phase(consumer.ring.full(stage.at), stage.phase);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint64_t a = rows_of_a(consumer);
      const uint64_t b =
          descriptor(made_here(consumer.ring.b(stage.at) + static_cast<uint32_t>(half * kShareBytes)));
      float of_part[kHalf][4];
      before_products();
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
        begin_f8_product(of_part, further(a, step * 32), further(b, step * 32), step > 0);
      end_of_products();
      wait_for_products<0>();
      settle(of_part);
      if (half == 1) consumer.release(stage.at);
#pragma unroll
      for (int n = 0; n < kHalf; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[half * kHalf + n][i] += of_part[n][i];
    }
    stage.advance();
  }
}

template <bool kShort>
__device__ void multiply_tiles(const TileMaps& maps, const TileOrder<kCluster>& order, float scale) {
  multiply_along_k<kDepth>(maps, order,
                           [scale](Consumer<kCluster>& consumer, const Piece& piece, GroupSums& sums) {
                             kShort ? add_there(consumer, piece, sums) : add_here(consumer, piece, sums);
#pragma unroll
                             for (int n = 0; n < kTileCols / 8; ++n)
#pragma unroll
                               for (int i = 0; i < 4; ++i) sums[n][i] *= scale;
                           });
}

#else
template <bool kShort>
__device__ void multiply_tiles(const TileMaps&, const TileOrder<kCluster>&, float) {
}  // no card that runs this is given the row
#endif

template <bool kShort>
__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    fp8_kernel(const __grid_constant__ TileMaps maps, const TileOrder<kCluster> order, float scale) {
  multiply_tiles<kShort>(maps, order, scale);
}

template <bool kShort>
void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto [dtype, rows, cols, depth] = args.problem;
  const int m = static_cast<int>(rows), n = static_cast<int>(cols), k = static_cast<int>(depth);
  require_aligned(is_aligned(args.a) && is_aligned(args.b) && is_aligned(args.c));
  const TileMaps maps{matrix_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, args.a, m, k, kTileRows),
                      matrix_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, args.b, n, k, kShareCols),
                      matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, args.c, m, n, kGroupRows)};
  const TileOrder<kCluster> order(args.problem, kDepth);
  const int clusters = std::min(order.count(), std::max(current_card().multiprocessors / kCluster, 1));
  launch_clusters(launch, fp8_kernel<kShort>, kCluster, dim3(static_cast<unsigned>(clusters * kCluster)),
                  dim3(kSpecialisedThreads), kRingShared, maps, order, args.scale);
}

template <bool kShort>
Row<MatmulLadder> row(std::string_view name) {
  return {.name = name,
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::f8_e4m3>,
          .run = run<kShort>,
          .arithmetic = Arithmetic::f8,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/fp8.cu"};
}

}  // namespace

Row<MatmulLadder> fp8_row() { return row<false>("cuda.fp8"); }
Row<MatmulLadder> fp8_short_row() { return row<true>("cuda.fp8_short"); }

}  // namespace orrery::kernels::cuda::ladder
