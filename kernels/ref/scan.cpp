// CausalConvolution and SelectiveScan, reference: the formulas of scan.h in float64, page by page. One
// thread.
#include "kernels/scan.h"

#include <cmath>
#include <vector>

namespace orrery::kernels::ref {
namespace {

/// log(1 + e^x) without overflow.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// One channel over the tokens of a page.
void convolve(const CausalConvolution::Args& args, const PageRun& run, int64_t channel) {
  const auto [channels, kernel] = args.problem;
  const int64_t kept = kernel - 1;
  const auto input = [&](int64_t token) {
    if (token >= 0) return args.src[(run.row + token) * channels + channel];
    return run.before != nullptr ? run.before[(kept + token) * channels + channel] : 0.0F;
  };
  for (int64_t t = 0; t < run.tokens; ++t) {
    double sum = args.bias != nullptr ? args.bias[channel] : 0.0;
    for (int64_t k = 0; k < kernel; ++k)
      sum += static_cast<double>(args.weight[k * channels + channel]) * input(t - kept + k);
    args.dst[(run.row + t) * channels + channel] = static_cast<float>(sum);
  }
  for (int64_t j = 0; j < kept; ++j) run.after[j * channels + channel] = input(run.tokens - kept + j);
}

void scan(const SelectiveScan::Args& args, const PageRun& run, int64_t channel) {
  const auto [channels, states] = args.problem;
  std::vector<float> h(static_cast<size_t>(states));
  for (int64_t n = 0; n < states && run.before != nullptr; ++n)
    h[static_cast<size_t>(n)] = run.before[n * channels + channel];
  for (int64_t row = run.row; row < run.row + run.tokens; ++row) {
    const int64_t at = row * channels + channel;
    const double x = args.src[at];
    const double step = softplus(args.delta[at]);
    double sum = args.d[channel] * x;
    for (int64_t n = 0; n < states; ++n) {
      float& state = h[static_cast<size_t>(n)];
      state = static_cast<float>(std::exp(step * args.a[n * channels + channel]) * state +
                                 step * args.b[row * states + n] * x);
      sum += static_cast<double>(args.c[row * states + n]) * state;
    }
    args.dst[at] = static_cast<float>(sum);
  }
  for (int64_t n = 0; n < states; ++n) run.after[n * channels + channel] = h[static_cast<size_t>(n)];
}

template <class Args, class Body>
void each_channel(const Args& args, const Body& body) {
  for (int64_t s = 0; s < args.ragged.sequences; ++s)
    each_page_run(args.ragged, args.record, s, [&](const PageRun& run) {
      for (int64_t channel = 0; channel < args.problem.channels; ++channel) body(args, run, channel);
    });
}

}  // namespace

std::string legal(const CausalConvolution::Problem& problem) {
  if (problem.channels <= 0) return "there are no channels";
  return problem.kernel > 0 ? "" : "the convolution reads no token";
}

std::string legal(const SelectiveScan::Problem& problem) {
  if (problem.channels <= 0) return "there are no channels";
  return problem.states > 0 ? "" : "the channels keep no state";
}

void causal_convolution(const CausalConvolution::Args& args, const Launch&) { each_channel(args, convolve); }
void selective_scan(const SelectiveScan::Args& args, const Launch&) { each_channel(args, scan); }

}  // namespace orrery::kernels::ref
