// Step 6, cuda.vectorised: numbers are moved four at a time.
//   Changed  loads from memory, loads from shared memory and stores of c take four neighbours each. The part
//            of a lies turned in shared memory, so that the rows of a thread are neighbours there too; a
//            thread owns two times four rows and two times four columns.
//   Faster   a quarter of the load and store instructions: 4 of 16 bytes for 64 FMAs. Eight threads that are
//            served together read 128 bytes that follow each other, which are all banks once.
//   Limit    waiting: nothing is multiplied while the next part is brought, and the numbers of a step are
//            loaded right before they are needed.
#include "kernels/cuda/ladder/fours.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kSide = 128;  // rows and columns of a block
constexpr int kDepth = 8;   // steps of k
constexpr int kThreads = 256;
constexpr int kHalf = kSide / 2;                // a thread's second four begin so far from its first
constexpr int kPad = 4;                         // so that a's columns begin in different banks
static_assert(kThreads * 4 == kSide * kDepth);  // each brings four of a and four of b

struct Parts {
  alignas(16) float a[kDepth][kSide + kPad];  // [k][row]
  alignas(16) float b[kDepth][kSide];         // [k][column]
};

template <class T>
__device__ void fill(Parts& parts, const Operands<T>& o, bool a_in_fours, bool b_in_fours, int first_row,
                     int first_col, int first) {
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / 2, depth = thread % 2 * 4;   // four of a row of a
  const int step = thread / 32, col = thread % 32 * 4;  // four of a row of b
  const Four<T> a = load_four(o.a, a_in_fours, o.m, o.k, first_row + row, first + depth);
  const Four<T> b = load_four(o.b, b_in_fours, o.k, o.n, first + step, first_col + col);
#pragma unroll
  for (int i = 0; i < 4; ++i) parts.a[depth + i][row] = number(a.at[i]);
  *reinterpret_cast<float4*>(&parts.b[step][col]) = {number(b.at[0]), number(b.at[1]), number(b.at[2]),
                                                     number(b.at[3])};
}

/// Eight numbers: four from `at` on, and four that begin kHalf further.
__device__ inline void load_eight(float (&to)[8], const float* at) {
  const float4 low = *reinterpret_cast<const float4*>(at),
               high = *reinterpret_cast<const float4*>(at + kHalf);
  to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
  to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

template <class T>
__global__ void __launch_bounds__(kThreads, 2) vectorised_kernel(const Operands<T> o) {
  __shared__ Parts parts;
  pdl_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kSide,
            first_col = static_cast<int>(blockIdx.x) * kSide;
  const int x = thread % 16 * 4, y = thread / 16 * 4;
  const bool a_in_fours = lies_in_fours(o.a, o.k), b_in_fours = lies_in_fours(o.b, o.n);
  float sums[8][8] = {};
  for (int first = 0; first < o.k; first += kDepth) {
    fill(parts, o, a_in_fours, b_in_fours, first_row, first_col, first);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float down[8], across[8];
      load_eight(down, &parts.a[p][y]);
      load_eight(across, &parts.b[p][x]);
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 8; ++c) sums[r][c] = fmaf(down[r], across[c], sums[r][c]);
    }
    __syncthreads();
  }
  const bool c_in_fours = lies_in_fours(o.c, o.n);
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + y + r / 4 * kHalf + r % 4, col = first_col + x + half * kHalf;
      if (row >= o.m || col >= o.n) continue;
      float* to = o.c + static_cast<int64_t>(row) * o.n + col;
      const float* from = &sums[r][half * 4];
      if (c_in_fours) {
        *reinterpret_cast<float4*>(to) = {from[0], from[1], from[2], from[3]};
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (col + i < o.n) to[i] = from[i];
      }
    }
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, vectorised_kernel<T>, dim3(blocks_of(o.n, kSide), blocks_of(o.m, kSide)),
                  dim3(kThreads), 0, o);
  });
}

}  // namespace

Row<MatmulLadder> vectorised_row() {
  return {.name = "cuda.vectorised",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run,
          .source = "cuda/ladder/vectorised.cu",
          .block = {kSide, kSide}};
}

}  // namespace orrery::kernels::cuda::ladder
