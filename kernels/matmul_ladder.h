// One product of matrices, written again and again: each row is a step of a ladder from three plain loops to
// what the machine can do, and its file says what changed, why that is faster and what is in the way now.
//   c[i, j] = sum_k a[i, k] * b[k, j]
//   a (m, k), b (k, n) f32 or bf16      c (m, n) f32      row-major, without gaps
// Of f8_e4m3 b lies as (n, k), as a linear layer's weights do and tensor cores read 8 bits, and c is times
// `scale`: numbers of 4 bits lie within the type's 2^-9 to 448 only when both matrices are brought there.
// Sums are of float32, or of what the tensor cores add in. The rows are there to be read and to be measured,
// so they stand in the order of the ladder, slowest first; the op of this name takes the one that a person
// names.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct MatmulLadder {
  static constexpr std::string_view kName = "matmul_ladder";
  static constexpr int64_t kMostSize = int64_t{1} << 18;
  struct Problem {
    DType dtype = DType::f32;  // of a and b
    int64_t m = 1, n = 1, k = 1;
  };
  struct Args {
    Problem problem;
    const void* a = nullptr;
    const void* b = nullptr;
    float* c = nullptr;
    float scale = 1.0F;  // of f8_e4m3: what 1 in a stands for, times what 1 in b does
  };
};

std::span<const Row<MatmulLadder>> matmul_ladder_rows();
namespace cuda {
std::span<const Row<MatmulLadder>> matmul_ladder_rows();
}
namespace ref {
void matmul_ladder(const MatmulLadder::Args& args, const Launch& launch);
std::string legal(const MatmulLadder::Problem& problem);
/// Of rows that read b along n.
std::string legal_along_n(const MatmulLadder::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
