// RMS and layer norm, reference: the formulas of norm.h with float64 sums. One thread.
#include "kernels/norm.h"

#include <algorithm>
#include <cmath>

namespace orrery::kernels::ref {
namespace {

/// Where the weights, or biases, of a token begin.
int64_t weights_of(const Norm::Args& args, int64_t token) { return token % args.weight_rows * args.cols; }

void rms_row(const float* x, const Norm::Args& args, int64_t token, float* dst) {
  const float* weight = args.weight + weights_of(args, token);
  double squares = 0;
  for (int64_t c = 0; c < args.cols; ++c) squares += static_cast<double>(x[c]) * x[c];
  const double factor = 1.0 / std::sqrt(squares / static_cast<double>(args.cols) + args.eps);
  for (int64_t c = 0; c < args.cols; ++c) dst[c] = static_cast<float>(x[c] * factor * weight[c]);
}

void layer_row(const float* x, const Norm::Args& args, int64_t token, float* dst) {
  const float* weight = args.weight + weights_of(args, token);
  const float* biases = args.bias != nullptr ? args.bias + weights_of(args, token) : nullptr;
  const auto count = static_cast<double>(args.cols);
  double sum = 0;
  for (int64_t c = 0; c < args.cols; ++c) sum += x[c];
  const double mean = sum / count;
  double squares = 0;
  for (int64_t c = 0; c < args.cols; ++c) squares += (x[c] - mean) * (x[c] - mean);
  const double factor = 1.0 / std::sqrt(squares / count + args.eps);
  for (int64_t c = 0; c < args.cols; ++c) {
    const double bias = biases != nullptr ? biases[c] : 0.0;
    dst[c] = static_cast<float>((x[c] - mean) * factor * weight[c] + bias);
  }
}

}  // namespace

std::string legal(const Norm::Problem& problem) { return problem.cols > 0 ? "" : "the rows have no columns"; }

void norm(const Norm::Args& args, const Launch&) {
  std::vector<float> x(static_cast<size_t>(args.cols));
  for (int64_t t = 0; t < args.tokens; ++t) {
    const int64_t row = t * args.cols;
    for (int64_t c = 0; c < args.cols; ++c) {
      x[static_cast<size_t>(c)] =
          args.src[row + c] + (args.residual != nullptr ? args.residual[row + c] : 0.0F);
    }
    if (args.sum != nullptr) std::copy(x.begin(), x.end(), args.sum + row);
    (args.kind == Norm::Kind::rms ? rms_row : layer_row)(x.data(), args, t, args.dst + row);
  }
}

}  // namespace orrery::kernels::ref
