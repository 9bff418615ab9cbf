// Step 4, cuda.column: a thread has eight sums, one under the other.
//   Changed  a block of 512 threads owns 64 x 64 elements of c and walks over k by 8; a thread owns 8 rows of
//            one column, and keeps their sums in registers.
//   Faster   a number of b is loaded once from shared memory for 8 products: 9 numbers instead of 16. And 64
//            x 64 elements of c need half as many numbers of a and b from outside as four times 32 x 32.
//   Limit    shared memory still: more than one number for each product.
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kSide = 64;  // rows and columns of a block
constexpr int kDepth = 8;  // steps of k
constexpr int kEach = 8;   // rows of a thread
constexpr int kThreads = kSide * kSide / kEach;
static_assert(kThreads == kSide * kDepth);  // each brings one number of a and one of b

template <class T>
__global__ void __launch_bounds__(kThreads) column_kernel(const Operands<T> o) {
  __shared__ float a_part[kSide][kDepth];  // [row][k]
  __shared__ float b_part[kDepth][kSide];  // [k][column]
  pdl_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kSide,
            first_col = static_cast<int>(blockIdx.x) * kSide;
  const int col = thread % kSide, row = thread / kSide * kEach;  // of the block
  float sums[kEach] = {};
  for (int first = 0; first < o.k; first += kDepth) {
    a_part[thread / kDepth][thread % kDepth] =
        element_of(o.a, o.m, o.k, first_row + thread / kDepth, first + thread % kDepth);
    b_part[thread / kSide][col] = element_of(o.b, o.k, o.n, first + thread / kSide, first_col + col);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      const float y = b_part[p][col];
#pragma unroll
      for (int r = 0; r < kEach; ++r) sums[r] = fmaf(a_part[row + r][p], y, sums[r]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r)
    if (first_row + row + r < o.m && first_col + col < o.n)
      o.c[static_cast<int64_t>(first_row + row + r) * o.n + first_col + col] = sums[r];
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, column_kernel<T>, dim3(blocks_of(o.n, kSide), blocks_of(o.m, kSide)),
                  dim3(kThreads), 0, o);
  });
}

}  // namespace

Row<MatmulLadder> column_row() {
  return {.name = "cuda.column",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run,
          .source = "cuda/ladder/column.cu",
          .block = {kSide, kSide}};
}

}  // namespace orrery::kernels::cuda::ladder
