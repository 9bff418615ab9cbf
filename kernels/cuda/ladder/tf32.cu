// Step 16, cuda.tf32: float32 on the same road, as TF32.
//   Changed  products of four warps of TF32, in blocks, clusters and tiles as those of cuda.cluster; a part
//            is 32 steps of k. These products read b along k only, so a first kernel turns it, rounded, into
//            the workspace. a comes as it is, from shared memory into registers (ldmatrix), where it is
//            rounded.
//   Faster   than cuda.pipelined by what the steps since have brought for bf16. The loads from shared memory
//            are those of a alone, 16 bytes of a thread for 64 x 256 x 8 products of a group, and while one
//            group loads, the other multiplies.
//   Limit    turning b reads and writes it once more: as long as a tenth of the products where a has 4,096
//            rows, and longer than they where it has few. The tensor cores then have half of bf16's rate.
// Rounding is half away from zero, as in the other steps; fed with float32 the products would cut it off.
#include <algorithm>

#include "kernels/cuda/device/tensor_core.cuh"
#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kCluster = 2;  // blocks
constexpr int kDepth = 32;   // steps of k in a part

constexpr int kTurned = 32, kTurningRows = 8;  // a block turns 32 x 32 numbers, 8 rows at a time

/// turned (n, k) = b (k, n) ^T, rounded.
__global__ void __launch_bounds__(kTurned* kTurningRows)
    turn_kernel(const float* b, float* turned, int k, int n) {
  __shared__ float tile[kTurned][kTurned + 1];
  pdl_wait();
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int first_k = static_cast<int>(blockIdx.y) * kTurned,
            first_n = static_cast<int>(blockIdx.x) * kTurned;
#pragma unroll
  for (int i = y; i < kTurned; i += kTurningRows)
    if (first_k + i < k && first_n + x < n)
      tile[i][x] = b[static_cast<int64_t>(first_k + i) * n + first_n + x];
  __syncthreads();
#pragma unroll
  for (int i = y; i < kTurned; i += kTurningRows)
    if (first_n + i < n && first_k + x < k)
      turned[static_cast<int64_t>(first_n + i) * k + first_k + x] = __uint_as_float(to_tf32(tile[x][i]));
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

constexpr int kSteps = kDepth / 8;  // products

/// A warp's 16 rows of a part of a, rounded.
struct RowsOfA {
  uint4 at[kSteps];

  __device__ RowsOfA(const Ring& ring, int group, int stage) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const int row = group * kGroupRows + thread / 32 % 4 * 16 + lane % 16;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int chunk = (2 * step + lane / 16) ^ row % 8;
      const uint4 x = load_matrices(ring.a(stage) + static_cast<uint32_t>(row * 128 + chunk * 16));
      at[step] = {to_tf32(__uint_as_float(x.x)), to_tf32(__uint_as_float(x.y)), to_tf32(__uint_as_float(x.z)),
                  to_tf32(__uint_as_float(x.w))};
    }
  }
};

/// Adds a tile. Registers that products read stay as they are until these are done.
__device__ void add(Consumer<kCluster>& consumer, const Piece& piece, GroupSums& sums) {
  const Ring& ring = consumer.ring;
  Stage<kRing>& stage = consumer.stage;
  for (int part = piece.first; part < piece.end; ++part) {
    wait_for_phase(ring.full(stage.at), stage.phase);
    const RowsOfA rows(ring, consumer.group, stage.at);
    const uint64_t b = descriptor(made_here(ring.b(stage.at)));
    before_products();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) begin_tf32_product(sums, rows.at[step], further(b, step * 32));
    end_of_products();
    wait_for_products<0>();
    consumer.release(stage.at);
    stage.advance();
  }
  settle(sums);
}

__device__ void multiply_tiles(const TileMaps& maps, const TileOrder<kCluster>& order) {
  multiply_along_k<kDepth>(maps, order, add);
}

#else
__device__ void multiply_tiles(const TileMaps&, const TileOrder<kCluster>&) {
}  // no card that runs this is given the row
#endif

__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    tf32_kernel(const __grid_constant__ TileMaps maps, const TileOrder<kCluster> order) {
  multiply_tiles(maps, order);
}

size_t workspace(const MatmulLadder::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(problem.n * problem.k) * sizeof(float);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto [dtype, rows, cols, depth] = args.problem;
  const int m = static_cast<int>(rows), n = static_cast<int>(cols), k = static_cast<int>(depth);
  require_aligned(is_aligned(args.a) && is_aligned(args.c));
  auto* turned = reinterpret_cast<float*>(launch.workspace);
  launch_kernel(launch, turn_kernel, dim3(blocks_of(n, kTurned), blocks_of(k, kTurned)),
                dim3(kTurned, kTurningRows), 0, static_cast<const float*>(args.b), turned, k, n);
  const TileMaps maps{matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, args.a, m, k, kTileRows),
                      matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, turned, n, k, kShareCols),
                      matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, args.c, m, n, kGroupRows)};
  const TileOrder<kCluster> order(args.problem, kDepth);
  const int clusters = std::min(order.count(), std::max(current_card().multiprocessors / kCluster, 1));
  launch_clusters(launch, tf32_kernel, kCluster, dim3(static_cast<unsigned>(clusters * kCluster)),
                  dim3(kSpecialisedThreads), kRingShared, maps, order);
}

}  // namespace

Row<MatmulLadder> tf32_row() {
  return {.name = "cuda.tf32",
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::f32>,
          .run = run,
          .workspace = workspace,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/tf32.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
