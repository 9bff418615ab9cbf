// Convolutions, reference: float64 sums by channels, then taps. One thread.
#include "kernels/convolution.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

/// One element of dst, without its bias, at a place of the spatial dims.
double convolved(const Convolution::Args& args, int64_t n, int64_t g, int64_t o,
                 const int64_t (&place)[kSpatial]) {
  const Convolution::Problem& p = args.problem;
  const int64_t(&kernel)[kSpatial] = p.window.kernel;
  double sum = 0;
  for (int64_t c = 0; c < p.channels; ++c)
    for (int64_t k = 0; k < p.window.taps(); ++k) {
      const int64_t z = p.from(0, place[0], k / (kernel[1] * kernel[2]));
      const int64_t y = p.from(1, place[1], k / kernel[2] % kernel[1]);
      const int64_t x = p.from(2, place[2], k % kernel[2]);
      const int64_t plane = (n * p.groups + g) * p.channels + c;
      const int64_t at = ((plane * p.src_size[0] + z) * p.src_size[1] + y) * p.src_size[2] + x;
      const bool outside = z < 0 || y < 0 || x < 0;
      const int64_t pair =
          p.transposed ? (g * p.channels + c) * p.outputs + o : (g * p.outputs + o) * p.channels + c;
      sum += (outside ? 0.0 : real_at(p.src, args.src, at)) *
             real_at(p.weight, args.weight, pair * p.window.taps() + k);
    }
  return sum;
}

}  // namespace

std::string legal(const Convolution::Problem& problem) {
  for (const DType dtype : {problem.src, problem.weight, problem.bias, problem.dst})
    if (!is_float(dtype)) return std::string(name_of(dtype)) + "; it takes f32, f16 or bf16";
  if (problem.batch < 0 || problem.groups < 1 || problem.channels < 1 || problem.outputs < 1)
    return "no channels";
  if (std::string reason = wrong_window(problem.window); !reason.empty()) return reason;
  if (std::string reason = wrong_sizes(problem.src_size); !reason.empty()) return reason;
  return wrong_sizes(problem.dst_size);
}

void convolution(const Convolution::Args& args, const Launch&) { convolution_some(args, 1); }

void convolution_some(const Convolution::Args& args, int64_t step) {
  const Convolution::Problem& p = args.problem;
  const int64_t(&size)[kSpatial] = p.dst_size;
  const int64_t rows = p.batch * p.groups * p.outputs * size[0] * size[1];
  for (int64_t row = step - 1; row < rows; row += step) {
    const int64_t y = row % size[1], z = row / size[1] % size[0], plane = row / (size[1] * size[0]);
    const int64_t o = plane % p.outputs, g = plane / p.outputs % p.groups, n = plane / (p.outputs * p.groups);
    const double bias = args.bias ? real_at(p.bias, args.bias, g * p.outputs + o) : 0.0;
    for (int64_t x = 0; x < size[2]; ++x)
      put_real(p.dst, bias + convolved(args, n, g, o, {z, y, x}), args.dst, row * size[2] + x);
  }
}

}  // namespace orrery::kernels::ref
