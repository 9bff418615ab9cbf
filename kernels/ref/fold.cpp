// Sums of windows that overlap, reference: float64. One thread.
#include "kernels/fold.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

double folded(const Fold::Args& args, int64_t plane, const int64_t (&at)[kSpatial]) {
  const Fold::Problem& p = args.problem;
  const int64_t(&kernel)[kSpatial] = p.window.kernel;
  double sum = 0;
  for (int64_t k = 0; k < p.window.taps(); ++k) {
    const int64_t z = p.window.read_by(0, at[0], k / (kernel[1] * kernel[2]), p.places[0]);
    const int64_t y = p.window.read_by(1, at[1], k / kernel[2] % kernel[1], p.places[1]);
    const int64_t x = p.window.read_by(2, at[2], k % kernel[2], p.places[2]);
    if (z < 0 || y < 0 || x < 0) continue;
    const int64_t place = (z * p.places[1] + y) * p.places[2] + x;
    sum += real_at(p.dtype, args.src, (plane * p.window.taps() + k) * volume(p.places) + place);
  }
  return sum;
}

}  // namespace

std::string legal(const Fold::Problem& problem) {
  if (!is_float(problem.dtype)) return std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
  if (std::string reason = wrong_window(problem.window); !reason.empty()) return reason;
  if (std::string reason = wrong_sizes(problem.size); !reason.empty()) return reason;
  return wrong_sizes(problem.places);
}

void fold(const Fold::Args& args, const Launch&) {
  const Fold::Problem& p = args.problem;
  int64_t to = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane)
    for (int64_t z = 0; z < p.size[0]; ++z)
      for (int64_t y = 0; y < p.size[1]; ++y)
        for (int64_t x = 0; x < p.size[2]; ++x)
          put_real(p.dtype, folded(args, plane, {z, y, x}), args.dst, to++);
}

}  // namespace orrery::kernels::ref
