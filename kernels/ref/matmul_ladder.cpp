// The ladder's product, reference: float64 sums in the order of k, a row of c at a time. One thread.
#include "kernels/matmul_ladder.h"

#include "kernels/half.h"
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

/// Both lie along k.
void multiply_f8(const MatmulLadder::Args& args) {
  const auto [dtype, m, n, k] = args.problem;
  const auto* a = static_cast<const uint8_t*>(args.a);
  const auto* b = static_cast<const uint8_t*>(args.b);
  double number_of[256];
  for (int bits = 0; bits < 256; ++bits) number_of[bits] = float_from_f8_e4m3(static_cast<uint8_t>(bits));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += number_of[a[i * k + p]] * number_of[b[j * k + p]];
      args.c[i * n + j] = static_cast<float>(sum * args.scale);
    }
}

}  // namespace

std::string legal(const MatmulLadder::Problem& problem) {
  if (problem.dtype != DType::f32 && problem.dtype != DType::bf16 && problem.dtype != DType::f8_e4m3)
    return std::string(name_of(problem.dtype)) + "; it takes f32, bf16 or F8_E4M3";
  for (const int64_t size : {problem.m, problem.n, problem.k})
    if (size < 1 || size > MatmulLadder::kMostSize)
      return "a size of " + std::to_string(size) + "; it takes 1 to " +
             std::to_string(MatmulLadder::kMostSize);
  return "";
}

std::string legal_along_n(const MatmulLadder::Problem& problem) {
  std::string reason = legal(problem);
  if (reason.empty() && problem.dtype == DType::f8_e4m3)
    reason = "a b of F8_E4M3 lies along k; it reads rows of n";
  return reason;
}

void matmul_ladder(const MatmulLadder::Args& args, const Launch&) {
  if (args.problem.dtype == DType::f8_e4m3) return multiply_f8(args);
  args.problem.dtype == DType::f32 ? multiply_in_order<DType::f32>(args)
                                   : multiply_in_order<DType::bf16>(args);
}

}  // namespace orrery::kernels::ref
