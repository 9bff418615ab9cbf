// Resizes, reference: weights and sums in float64. One thread.
#include "kernels/resize.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

using Taps = ResizeTaps<double>;

/// One element of dst.
double resized(const Resize::Args& args, int64_t plane, const Taps& deep, const Taps& high,
               const Taps& wide) {
  const Resize::Problem& p = args.problem;
  double sum = 0;
  for (int z = 0; z < deep.count; ++z)
    for (int y = 0; y < high.count; ++y)
      for (int x = 0; x < wide.count; ++x) {
        const double weight = deep.weight[z] * high.weight[y] * wide.weight[x];
        if (weight == 0) continue;
        const int64_t row = (plane * p.src_size[0] + deep.element(z, p.src_size[0])) * p.src_size[1] +
                            high.element(y, p.src_size[1]);
        sum += weight * real_at(p.dtype, args.src, row * p.src_size[2] + wide.element(x, p.src_size[2]));
      }
  return sum;
}

}  // namespace

std::string legal(const Resize::Problem& problem) {
  if (!is_float(problem.dtype)) return std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
  constexpr int64_t kMost = int64_t{1} << 30;  // so that the fractions fit into 64 bits
  for (int d = 0; d < kSpatial; ++d)
    if (problem.src_size[d] > kMost || problem.dst_size[d] > kMost)
      return "a dim of " + std::to_string(std::max(problem.src_size[d], problem.dst_size[d]));
  if (std::string reason = wrong_sizes(problem.src_size); !reason.empty()) return reason;
  return wrong_sizes(problem.dst_size);
}

void resize(const Resize::Args& args, const Launch&) {
  const Resize::Problem& p = args.problem;
  int64_t to = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane)
    for (int64_t z = 0; z < p.dst_size[0]; ++z)
      for (int64_t y = 0; y < p.dst_size[1]; ++y)
        for (int64_t x = 0; x < p.dst_size[2]; ++x)
          put_real(p.dtype, resized(args, plane, Taps(p, 0, z), Taps(p, 1, y), Taps(p, 2, x)), args.dst,
                   to++);
}

}  // namespace orrery::kernels::ref
