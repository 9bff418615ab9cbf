// Step 3, cuda.shared: what a block needs is brought once, by all of its threads.
//   Changed  a block of 32 x 32 threads walks over k by 32: each thread brings one number of a and one of b
//            into shared memory, all wait, and each multiplies 32 pairs from there.
//   Faster   each number loaded serves 32 threads, so that the caches and the memory behind them are
//            asked for a thirty-second. Shared memory answers in a fraction of their time.
//   Limit    two numbers from shared memory for each product: it gives a warp 32 of them in a cycle, and the
//            FMA units would take four products of a warp in that time.
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kSide = 32;  // rows and columns of a block, a thread each, and steps of k

template <class T>
__global__ void __launch_bounds__(kSide* kSide) shared_kernel(const Operands<T> o) {
  __shared__ float a_part[kSide][kSide];  // [row][k]
  __shared__ float b_part[kSide][kSide];  // [k][column]
  pdl_wait();
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * kSide + y, col = static_cast<int>(blockIdx.x) * kSide + x;
  float sum = 0;
  for (int first = 0; first < o.k; first += kSide) {
    a_part[y][x] = element_of(o.a, o.m, o.k, row, first + x);
    b_part[y][x] = element_of(o.b, o.k, o.n, first + y, col);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kSide; ++p) sum = fmaf(a_part[y][p], b_part[p][x], sum);
    __syncthreads();
  }
  if (row < o.m && col < o.n) o.c[static_cast<int64_t>(row) * o.n + col] = sum;
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, shared_kernel<T>, dim3(blocks_of(o.n, kSide), blocks_of(o.m, kSide)),
                  dim3(kSide, kSide), 0, o);
  });
}

}  // namespace

Row<MatmulLadder> shared_row() {
  return {.name = "cuda.shared",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run,
          .source = "cuda/ladder/shared.cu",
          .block = {kSide, kSide}};
}

}  // namespace orrery::kernels::cuda::ladder
