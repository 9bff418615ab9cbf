// Norm over groups of channels, reference: float64. One thread.
#include "kernels/group_norm.h"

#include <cmath>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const GroupNorm::Problem& problem) {
  return is_float(problem.dtype) ? "" : std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
}

void group_norm(const GroupNorm::Args& args, const Launch&) {
  const int64_t each = args.channels / args.groups, count = each * args.inner;
  for (int64_t group = 0; count > 0 && group < args.batch * args.groups; ++group) {
    const int64_t first = group * count;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) sum += real_at(args.dtype, args.src, first + i);
    const double mean = sum / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i) {
      const double off = real_at(args.dtype, args.src, first + i) - mean;
      squares += off * off;
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + static_cast<double>(args.eps));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = group % args.groups * each + i / args.inner;
      const double weight = args.weight != nullptr ? args.weight[channel] : 1.0;
      const double bias = args.bias != nullptr ? args.bias[channel] : 0.0;
      put_real(args.dtype, (real_at(args.dtype, args.src, first + i) - mean) * scale * weight + bias,
               args.dst, first + i);
    }
  }
}

}  // namespace orrery::kernels::ref
