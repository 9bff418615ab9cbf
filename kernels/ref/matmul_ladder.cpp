// The ladder's product, reference: float64 sums in the order of k, a row of c at a time. One thread.
#include "kernels/matmul_ladder.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

template <DType kType>
void multiply_in_order(const MatmulLadder::Args& args) {
  const auto [dtype, m, n, k] = args.problem;
  std::vector<double> sums(static_cast<size_t>(n));
  for (int64_t i = 0; i < m; ++i) {
    sums.assign(sums.size(), 0.0);
    for (int64_t p = 0; p < k; ++p) {
      const double x = real_at(kType, args.a, i * k + p);
      for (int64_t j = 0; j < n; ++j) sums[static_cast<size_t>(j)] += x * real_at(kType, args.b, p * n + j);
    }
    for (int64_t j = 0; j < n; ++j) args.c[i * n + j] = static_cast<float>(sums[static_cast<size_t>(j)]);
  }
}

}  // namespace

std::string legal(const MatmulLadder::Problem& problem) {
  if (problem.dtype != DType::f32 && problem.dtype != DType::bf16)
    return std::string(name_of(problem.dtype)) + "; it takes f32 or bf16";
  for (const int64_t size : {problem.m, problem.n, problem.k})
    if (size < 1 || size > MatmulLadder::kMostSize)
      return "a size of " + std::to_string(size) + "; it takes 1 to " +
             std::to_string(MatmulLadder::kMostSize);
  return "";
}

void matmul_ladder(const MatmulLadder::Args& args, const Launch&) {
  args.problem.dtype == DType::f32 ? multiply_in_order<DType::f32>(args)
                                   : multiply_in_order<DType::bf16>(args);
}

}  // namespace orrery::kernels::ref
