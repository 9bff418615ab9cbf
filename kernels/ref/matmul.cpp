// Products of matrices, reference: float64 sums in the order of k. One thread.
#include "kernels/matmul.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Matmul::Problem& problem) {
  for (const DType dtype : {problem.a, problem.b, problem.dst})
    if (!is_float(dtype)) return std::string(name_of(dtype)) + "; it takes f32, f16 or bf16";
  return wrong_rank(problem.batch_rank + 2);
}

void matmul(const Matmul::Args& args, const Launch&) {
  const int rank = args.batch.rank;
  for (int64_t z = 0; z < args.batch.elements(); ++z)
    for (int64_t i = 0; i < args.rows; ++i)
      for (int64_t j = 0; j < args.cols; ++j) {
        const int64_t a = args.batch.offset(0, z, rank) + i * args.a_row;
        const int64_t b = args.batch.offset(1, z, rank) + j * args.b_col;
        double sum = 0;
        for (int64_t k = 0; k < args.depth; ++k)
          sum += real_at(args.a_type, args.a, a + k * args.a_depth) *
                 real_at(args.b_type, args.b, b + k * args.b_depth);
        put_real(args.dst_type, sum, args.dst, (z * args.rows + i) * args.cols + j);
      }
}

}  // namespace orrery::kernels::ref
