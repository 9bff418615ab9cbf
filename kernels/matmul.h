// Products of matrices that a step has made, batch by batch:
//   dst[z, i, j] = sum_k a[z, i, k] * b[z, k, j]
//   a (batch, rows, depth)   b (batch, depth, cols)   any strides: transposed, broadcast over batch dims (0)
//   dst (batch, rows, cols)  without gaps; no source
// Floats of any of the three types; products of float32, sums of float32 in the order of k.
#pragma once

#include "kernels/row.h"
#include "kernels/strided.h"

namespace orrery::kernels {

struct Matmul {
  static constexpr std::string_view kName = "matmul";
  static constexpr int kMaxBatchRank = kMaxRank - 2;
  struct Problem {
    DType a = DType::f32, b = DType::f32, dst = DType::f32;
    int batch_rank = 0;
  };
  struct Args {
    DType a_type = DType::f32, b_type = DType::f32, dst_type = DType::f32;
    int64_t rows = 0, depth = 0, cols = 0;
    Walk<2> batch;  // strides of a, of b
    int64_t a_row = 0, a_depth = 0, b_depth = 0, b_col = 0;
    const void* a = nullptr;
    const void* b = nullptr;
    void* dst = nullptr;
  };
};

std::span<const Row<Matmul>> matmul_rows();
namespace cuda {
std::span<const Row<Matmul>> matmul_rows();
}
namespace ref {
void matmul(const Matmul::Args& args, const Launch& launch);
std::string legal(const Matmul::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
