// Tiles for the tensor cores: how a block of c is shared out over warps, and the product that a warp makes.
//   A block of 8 warps owns 128 x 128 elements of c; a warp owns 64 x 32, as 4 x 4 products of 16 x 8.
//   A product of warp lane 4 g + q, of elements of 32 bits; for bf16 one of these is two that follow each
//   other along k:
//     a: rows g, g + 8 of column q, then of column q + 4      b: rows q, q + 4 of column g
//     c: columns 2 q, 2 q + 1 of row g, then of row g + 8
//   float32 is rounded to TF32 (11 bits); products of either are exact, and sums are float32's, cut off.
//   In shared memory a row of the part of a has 64 bytes and 16 of nothing, a row of b 128 elements and 8 of
//   nothing: so the 32 words that the lanes of a warp read lie in all banks.
#pragma once

#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {

constexpr int kTensorSide = 128;  // rows and columns of a block
constexpr int kTensorThreads = 256;
constexpr int kWarpRows = 64, kWarpCols = 32;
constexpr int kDown = kWarpRows / 16, kAcross = kWarpCols / 8;  // products of a warp

/// The parts of a and b that are multiplied at a time.
template <class T>
struct alignas(16) TensorPart {
  static constexpr int kDepth = 64 / static_cast<int>(sizeof(T));
  static constexpr int kStep = 32 / static_cast<int>(sizeof(T));  // of k in one product
  T a[kTensorSide][kDepth + 16 / sizeof(T)];                      // [row][k]
  T b[kDepth][kTensorSide + 8];                                   // [k][column]
};

/// Where the thread's warp lies in its block.
struct Warp {
  int row = static_cast<int>(threadIdx.x) / 32 / 4 * kWarpRows;
  int col = static_cast<int>(threadIdx.x) / 32 % 4 * kWarpCols;
  int g = static_cast<int>(threadIdx.x) % 32 / 4, q = static_cast<int>(threadIdx.x) % 4;
};

/// What a lane holds of the operands of 4 x 4 products.
struct Fragments {
  uint32_t a[kDown][4], b[kAcross][2];
};
struct Sums {
  float at[kDown][kAcross][4] = {};
};

__device__ inline uint32_t to_tf32(float x) {
  uint32_t y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}

/// c += a b of T.
template <class T>
__device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, float>)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class T>
__device__ inline void multiply(Sums& sums, const Fragments& from) {
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAcross; ++c) multiply<T>(sums.at[r][c], from.a[r], from.b[c]);
}

/// Writes the warp's sums into the block of c that begins there.
template <class T>
__device__ inline void store_sums(const Sums& sums, const Operands<T>& o, const Warp& warp, int first_row,
                                  int first_col) {
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = first_row + warp.row + 16 * r + warp.g + i / 2 * 8;
        const int col = first_col + warp.col + 8 * c + 2 * warp.q + i % 2;
        if (row < o.m && col < o.n) o.c[static_cast<int64_t>(row) * o.n + col] = sums.at[r][c][i];
      }
}

}  // namespace orrery::kernels::cuda::ladder
