// One block of a product of float32 matrices:  sums[i, j] += sum_k a[i, k] b[k, j]
//   a (kMatmulRows, kMatmulDepth), b (kMatmulDepth, kMatmulCols), sums (kMatmulRows, kMatmulCols), row-major
//   a tile of 6 rows and 4 vectors (AVX2: 2) of sums is held in registers over the whole depth, so every sum
//   is one chain of FMAs in the order of k
//   one call is one thread's work      traffic: b is read once for each tile of rows, from L2
#include "kernels/cpu/isa/matmul.h"

#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

#if defined(ORRERY_ISA_AVX512)
constexpr int kVectors = 4;
#else
constexpr int kVectors = 2;
#endif
constexpr int kTileRows = kMatmulTileRows;

void tile(const float* a, const float* b, int64_t depth, float* sums) {
  Vec total[kTileRows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) total[r][v] = load(sums + r * kMatmulCols + v * kLanes);
  for (int64_t k = 0; k < depth; ++k) {
    Vec row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = load(b + k * kMatmulCols + v * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kTileRows; ++r) {
      const Vec x = set1(a[r * kMatmulDepth + k]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) total[r][v] = fma(x, row[v], total[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(sums + r * kMatmulCols + v * kLanes, total[r][v]);
}

void multiply(const float* a, const float* b, int64_t rows, int64_t depth, float* sums) {
  for (int64_t r = 0; r < rows; r += kTileRows)
    for (int64_t c = 0; c < kMatmulCols; c += kVectors * kLanes)
      tile(a + r * kMatmulDepth, b + c, depth, sums + r * kMatmulCols + c);
}

}  // namespace

const MatmulTable kMatmul = {multiply};

}  // namespace orrery::kernels::ORRERY_ISA
