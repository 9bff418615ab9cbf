// Step 5, cuda.square: a thread has 8 x 8 sums.
//   Changed  a block of 256 threads owns 128 x 128 elements of c; a thread owns 8 rows and 8 columns, 16
//            apart, so that the threads of a warp read neighbours.
//   Faster   8 numbers of a and 8 of b are loaded for 64 products: a quarter of a number each. Now the FMA
//            units are what is busy most of the time, and each number loaded from outside serves 128
//            threads.
//   Limit    instructions: every number is loaded, converted and stored by one of its own, and all wait while
//            the next part is brought.
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kSide = 128;  // rows and columns of a block
constexpr int kDepth = 8;   // steps of k
constexpr int kEach = 8;    // rows and columns of a thread
constexpr int kAcross = kSide / kEach;
constexpr int kThreads = kAcross * kAcross;

template <class T>
__global__ void __launch_bounds__(kThreads, 2) square_kernel(const Operands<T> o) {
  __shared__ float a_part[kSide][kDepth];  // [row][k]
  __shared__ float b_part[kDepth][kSide];  // [k][column]
  pdl_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kSide,
            first_col = static_cast<int>(blockIdx.x) * kSide;
  const int x = thread % kAcross, y = thread / kAcross;
  float sums[kEach][kEach] = {};
  for (int first = 0; first < o.k; first += kDepth) {
#pragma unroll
    for (int i = 0; i < kSide * kDepth; i += kThreads) {
      const int at = i + thread;
      a_part[at / kDepth][at % kDepth] =
          element_of(o.a, o.m, o.k, first_row + at / kDepth, first + at % kDepth);
      b_part[at / kSide][at % kSide] = element_of(o.b, o.k, o.n, first + at / kSide, first_col + at % kSide);
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float down[kEach], across[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        down[i] = a_part[y + kAcross * i][p];
        across[i] = b_part[p][x + kAcross * i];
      }
#pragma unroll
      for (int r = 0; r < kEach; ++r)
#pragma unroll
        for (int c = 0; c < kEach; ++c) sums[r][c] = fmaf(down[r], across[c], sums[r][c]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r)
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      const int row = first_row + y + kAcross * r, col = first_col + x + kAcross * c;
      if (row < o.m && col < o.n) o.c[static_cast<int64_t>(row) * o.n + col] = sums[r][c];
    }
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, square_kernel<T>, dim3(blocks_of(o.n, kSide), blocks_of(o.m, kSide)),
                  dim3(kThreads), 0, o);
  });
}

}  // namespace

Row<MatmulLadder> square_row() {
  return {.name = "cuda.square",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run,
          .source = "cuda/ladder/square.cu",
          .block = {kSide, kSide}};
}

}  // namespace orrery::kernels::cuda::ladder
