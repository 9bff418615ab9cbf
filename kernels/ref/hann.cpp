// Hann's window, reference: as the formula has it, in float64. One thread.
#include "kernels/hann.h"

#include <numbers>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Hann::Problem& problem) {
  return is_float(problem.dtype) ? "" : std::string(name_of(problem.dtype)) + "; it makes f32, f16 or bf16";
}

void hann(const Hann::Args& args, const Launch&) {
  const auto period = static_cast<double>(args.periodic ? args.count : args.count - 1);
  for (int64_t i = 0; i < args.count; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    put_real(args.dtype, args.count == 1 ? 1.0 : (1 - std::cos(angle)) / 2, args.dst, i);
  }
}

}  // namespace orrery::kernels::ref
