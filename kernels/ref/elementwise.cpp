// Pointwise ops, reference: each function in float64. One thread.
//   l2_normalise works on rows and divides by max(norm, 1e-12)
#include "kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#include "kernels/ref/activation.h"

namespace orrery::kernels::ref {
namespace {

using Function = Elementwise::Function;

double apply(Function function, double a, double b, double factor) {
  switch (function) {
    case Function::add:
      return a + b;
    case Function::mul:
      return a * b;
    case Function::scale:
      return a * factor;
    case Function::l2_normalise:
      return a;  // not pointwise; see below
    default:
      const Epilogue epilogue = epilogue_of(function);
      return activate<Math>(activation_of(epilogue), a) * (is_gated(epilogue) ? b : 1.0);
  }
}

void l2_normalise_row(const float* src, int64_t cols, float* dst) {
  double squares = 0;
  for (int64_t c = 0; c < cols; ++c) squares += static_cast<double>(src[c]) * src[c];
  const double norm = std::max(std::sqrt(squares), 1e-12);
  for (int64_t c = 0; c < cols; ++c) dst[c] = static_cast<float>(src[c] / norm);
}

}  // namespace

std::string legal(const Elementwise::Problem& problem) {
  if (problem.cols <= 0) return "the rows have no columns";
  const bool spreads = problem.function == Function::add || problem.function == Function::mul;
  if (problem.broadcast && !spreads) return "only add and mul spread one row over all";
  return {};
}

void elementwise(const Elementwise::Args& args, const Launch&) {
  for (int64_t t = 0; t < args.tokens; ++t) {
    const float* a = args.a + t * args.cols;
    float* dst = args.dst + t * args.cols;
    if (args.function == Function::l2_normalise) {
      l2_normalise_row(a, args.cols, dst);
    } else {
      const float* b = takes_two(args.function) ? args.b + (args.broadcast ? 0 : t * args.cols) : a;
      for (int64_t c = 0; c < args.cols; ++c) {
        dst[c] = static_cast<float>(apply(args.function, a[c], b[c], args.factor));
      }
    }
  }
}

}  // namespace orrery::kernels::ref
