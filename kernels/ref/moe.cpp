// TopExperts and ExpertMlp, reference: one token at a time, sums in float64. One thread.
#include "kernels/moe.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/ref/activation.h"

namespace orrery::kernels::ref {
namespace {

/// Matrix (rows, cols) times a vector.
std::vector<double> product(DType dtype, const std::byte* matrix, int64_t rows,
                            const std::vector<double>& vector) {
  const auto cols = static_cast<int64_t>(vector.size());
  const size_t stride = row_bytes(dtype, cols).value_or(0);
  std::vector<float> row(vector.size());
  std::vector<double> result;
  for (int64_t r = 0; r < rows; ++r) {
    dequantise_row(dtype, matrix + static_cast<size_t>(r) * stride, cols, row.data());
    result.push_back(std::inner_product(row.begin(), row.end(), vector.begin(), 0.0));
  }
  return result;
}

std::vector<double> run_expert(const ExpertMlp::Args& args, int64_t expert, const std::vector<double>& src) {
  const ExpertMlp::Problem& problem = args.problem;
  std::vector<double> inner = product(problem.gate, args.gate.of(expert), problem.inner, src);
  const std::vector<double> up = product(problem.up, args.up.of(expert), problem.inner, src);
  for (size_t i = 0; i < inner.size(); ++i)
    inner[i] = activate<Math>(activation_of(problem.activation), inner[i]) * up[i];
  return product(problem.down, args.down.of(expert), problem.width, inner);
}

}  // namespace

std::string legal(const TopExperts::Problem& problem) {
  if (problem.experts < 1 || problem.experts > INT32_MAX) return "there are no experts";
  if (problem.active < 1 || problem.active > problem.experts)
    return std::to_string(problem.active) + " of " + std::to_string(problem.experts) +
           " experts cannot be active";
  return {};
}

std::string legal(const ExpertMlp::Problem& problem) {
  if (std::string reason = legal(TopExperts::Problem{problem.experts, problem.active}); !reason.empty())
    return reason;
  if (problem.width < 1 || problem.inner < 1) return "the matrices have no rows or no columns";
  for (const DType dtype : {problem.gate, problem.up})
    if (!row_bytes(dtype, problem.width))
      return std::to_string(problem.width) + " columns are no multiple of a " + std::string(name_of(dtype)) +
             " block";
  if (!row_bytes(problem.down, problem.inner))
    return std::to_string(problem.inner) + " columns are no multiple of a " +
           std::string(name_of(problem.down)) + " block";
  if (!is_gated(problem.activation)) return "experts are gated by an activation";
  return {};
}

void top_experts(const TopExperts::Args& args, const Launch&) {
  const auto [experts, active, normalise] = args.problem;
  std::vector<int32_t> order(static_cast<size_t>(experts));
  for (int64_t t = 0; t < args.tokens; ++t) {
    const float* logits = args.logits + t * experts;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
    const double largest = logits[order[0]];
    double sum = 0;
    for (int64_t i = 0; i < (normalise ? active : experts); ++i)
      sum += std::exp(logits[order[static_cast<size_t>(i)]] - largest);
    for (int64_t j = 0; j < active; ++j) {
      const int32_t expert = order[static_cast<size_t>(j)];
      args.experts[t * active + j] = expert;
      args.weights[t * active + j] = static_cast<float>(std::exp(logits[expert] - largest) / sum);
    }
  }
}

void expert_mlp(const ExpertMlp::Args& args, const Launch&) {
  const int64_t width = args.problem.width, active = args.problem.active;
  for (int64_t t = 0; t < args.tokens; ++t) {
    const std::vector<double> src(args.src + t * width, args.src + (t + 1) * width);
    std::vector<double> total(static_cast<size_t>(width));
    for (int64_t j = t * active; j < (t + 1) * active; ++j) {
      const std::vector<double> part = run_expert(args, args.experts[j], src);
      for (size_t c = 0; c < total.size(); ++c) total[c] += args.weights[j] * part[c];
    }
    std::transform(total.begin(), total.end(), args.dst + t * width,
                   [](double x) { return static_cast<float>(x); });
  }
}

}  // namespace orrery::kernels::ref
