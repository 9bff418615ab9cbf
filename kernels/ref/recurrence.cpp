// Recurrences along one dim, reference: float64. One thread.
#include "kernels/recurrence.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Recurrence::Problem& problem) {
  return is_float(problem.dtype) ? "" : std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
}

void recurrence(const Recurrence::Args& args, const Launch&) {
  for (int64_t o = 0; o < args.outer; ++o)
    for (int64_t i = 0; i < args.inner; ++i) {
      double held = 0;
      for (int64_t step = 0; step < args.count; ++step) {
        const int64_t j = args.reverse ? args.count - 1 - step : step;
        const int64_t at = (o * args.count + j) * args.inner + i;
        const double kept = step == 0 ? 0 : real_at(args.dtype, args.factor, at) * held;
        held = kept + real_at(args.dtype, args.src, at);
        put_real(args.dtype, held, args.dst, at);
      }
    }
}

}  // namespace orrery::kernels::ref
