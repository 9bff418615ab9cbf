// Merging a low-rank adapter into its base matrix.
#pragma once

#include "engine/weights/weight_store.h"

namespace orrery::weights {

/// factor * B A. The matrices are held with `owner`.
struct LowRankTerm {
  double factor = 1.0;
  io::Tensor a, b;
  std::shared_ptr<const void> owner = {};
};

/// dst = base + the terms in float32:  dst[r, c] = base[r, c] + factor * sum_k b[r, k] * a[k, c] + ...
///   base (rows, cols) any dtype, dequantised exactly   a (rank, cols), b (rows, rank) f32, f16 or bf16
/// Each thread owns a range of rows. Refuses shapes that do not fit (shape_mismatch) and memory that is not
/// there.
Result<Buffer> merge_low_rank(const io::Tensor& base, std::span<const LowRankTerm> terms,
                              kernels::ThreadTeam& team);

/// A tensor as a matrix: rows is the product of all dims but the last; a vector is one row.
struct Matrix {
  int64_t rows = 1, cols = 1;
};
Matrix matrix_of(const io::Tensor& tensor);

}  // namespace orrery::weights
