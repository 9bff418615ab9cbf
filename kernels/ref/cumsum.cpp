// Cumulative sums, reference: floats in float64, integers in 64 bits. One thread.
#include "kernels/cumsum.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Cumsum::Problem& problem) {
  const DType dtype = problem.dtype;
  if (!is_element(dtype)) return std::string(name_of(dtype)) + " is how weights are stored, not elements";
  return dtype == DType::boolean ? "bools are no numbers" : "";
}

void cumsum(const Cumsum::Args& args, const Launch&) {
  for (int64_t o = 0; o < args.outer; ++o)
    for (int64_t i = 0; i < args.inner; ++i) {
      double real = 0;
      uint64_t whole = 0;
      for (int64_t step = 0; step < args.count; ++step) {
        const int64_t j = args.reverse ? args.count - 1 - step : step;
        const int64_t at = (o * args.count + j) * args.inner + i;
        if (is_float(args.dtype)) {
          const double next = real + real_at(args.dtype, args.src, at);
          put_real(args.dtype, args.exclusive ? real : next, args.dst, at);
          real = next;
        } else {
          const uint64_t next = whole + static_cast<uint64_t>(integer_at(args.dtype, args.src, at));
          put_integer(args.dtype, static_cast<int64_t>(args.exclusive ? whole : next), args.dst, at);
          whole = next;
        }
      }
    }
}

}  // namespace orrery::kernels::ref
