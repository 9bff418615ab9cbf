// What matmul.cpp offers, built once per ISA.
#pragma once

#include <cstdint>

namespace orrery::kernels {

/// A block of dst and the depth that is multiplied at a time: 48 KB of a, 64 KB of b, 12 KB of sums.
static constexpr int64_t kMatmulRows = 48, kMatmulCols = 64, kMatmulDepth = 256;
static constexpr int64_t kMatmulTileRows = 6;  // rows of sums in registers; kMatmulRows is a multiple

struct MatmulTable {
  /// sums (kMatmulRows, kMatmulCols) += a (.., kMatmulDepth) b (.., kMatmulCols) over the first `rows` rows,
  /// rounded up to tiles, and `depth` columns of a.
  void (*multiply)(const float* a, const float* b, int64_t rows, int64_t depth, float* sums);
};

namespace avx2 {
extern const MatmulTable kMatmul;
}
namespace avx512 {
extern const MatmulTable kMatmul;
}

}  // namespace orrery::kernels
