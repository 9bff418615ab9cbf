// Products of matrices that a step has made (matmul.h): dst[z, i, j] = sum_k a[z, i, k] b[z, k, j].
//   a, b    any strides and any of the float types      dst (batch, rows, cols) without gaps
//   A block of 16 x 16 threads owns 64 x 64 elements of one batch; it walks k by 16, converts that part of a
//   and of b into shared memory, and each thread adds 4 x 4 products: rows threadIdx.y + 16 r, columns
//   threadIdx.x + 16 c. float32 FMAs in the order of k, so a sum does not depend on what is beside it.
// Bytes moved: a once for each 64 columns of dst, b once for each 64 rows, dst once.
#include <algorithm>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/matmul.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kSide = 16;  // threads of a side of the block, and the depth of a step
constexpr int kEach = 4;   // rows and columns of a thread
constexpr int kTile = kSide * kEach;
constexpr unsigned kMostBatches = 65535;

__global__ void __launch_bounds__(kSide* kSide) matmul_kernel(const Matmul::Args args, int64_t batches) {
  __shared__ float a_part[kSide][kTile + 1];  // [k][i], padded: a is stored by columns
  __shared__ float b_part[kSide][kTile];      // [k][j]
  pdl_wait();
  const int64_t row = blockIdx.y * static_cast<int64_t>(kTile),
                col = blockIdx.x * static_cast<int64_t>(kTile);
  const int thread = static_cast<int>(threadIdx.y) * kSide + static_cast<int>(threadIdx.x);
  for (int64_t z = blockIdx.z; z < batches; z += gridDim.z) {
    const int64_t a_base = args.batch.offset(0, z, args.batch.rank);
    const int64_t b_base = args.batch.offset(1, z, args.batch.rank);
    float sums[kEach][kEach] = {};
    for (int64_t first = 0; first < args.depth; first += kSide) {
      for (int i = thread; i < kSide * kTile; i += kSide * kSide) {
        const int k = i % kSide, r = i / kSide;  // neighbours read along k
        const bool inside = first + k < args.depth && row + r < args.rows;
        a_part[k][r] = inside
                           ? load_element<float>(args.a_type, args.a,
                                                 a_base + (row + r) * args.a_row + (first + k) * args.a_depth)
                           : 0.0F;
      }
      for (int i = thread; i < kSide * kTile; i += kSide * kSide) {
        const int c = i % kTile, k = i / kTile;  // neighbours read along the columns
        const bool inside = first + k < args.depth && col + c < args.cols;
        b_part[k][c] = inside
                           ? load_element<float>(args.b_type, args.b,
                                                 b_base + (first + k) * args.b_depth + (col + c) * args.b_col)
                           : 0.0F;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kSide; ++k) {
        float x[kEach], y[kEach];
#pragma unroll
        for (int r = 0; r < kEach; ++r) x[r] = a_part[k][threadIdx.y + kSide * r];
#pragma unroll
        for (int c = 0; c < kEach; ++c) y[c] = b_part[k][threadIdx.x + kSide * c];
#pragma unroll
        for (int r = 0; r < kEach; ++r)
#pragma unroll
          for (int c = 0; c < kEach; ++c) sums[r][c] = fmaf(x[r], y[c], sums[r][c]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < kEach; ++r)
#pragma unroll
      for (int c = 0; c < kEach; ++c) {
        const int64_t i = row + threadIdx.y + kSide * r, j = col + threadIdx.x + kSide * c;
        if (i < args.rows && j < args.cols)
          store_element(args.dst_type, sums[r][c], args.dst, (z * args.rows + i) * args.cols + j);
      }
  }
}

void run(const Matmul::Args& args, const Launch& launch) {
  const int64_t batches = args.batch.elements();
  if (batches <= 0 || args.rows <= 0 || args.cols <= 0) return;
  const dim3 grid(static_cast<unsigned>((args.cols + kTile - 1) / kTile),
                  static_cast<unsigned>((args.rows + kTile - 1) / kTile),
                  static_cast<unsigned>(std::min<int64_t>(batches, kMostBatches)));
  launch_kernel(launch, matmul_kernel, grid, dim3(kSide, kSide), 0, args, batches);
}

}  // namespace

std::span<const Row<Matmul>> matmul_rows() {
  static const Row<Matmul> rows[] = {
      {.name = "cuda.tiled",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Matmul, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
