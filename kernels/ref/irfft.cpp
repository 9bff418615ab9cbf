// Real signals of their spectra, reference: the sums of the formula in float64. One thread.
#include "kernels/irfft.h"

#include <numbers>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Irfft::Problem& problem) {
  if (!is_float(problem.dtype)) return std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
  constexpr int64_t kMost = int64_t{1} << 26;
  if (problem.bins < 1 || problem.count < 1) return "no bins or no elements";
  return problem.count > kMost ? std::to_string(problem.count) + " elements; it makes up to 2^26" : "";
}

void irfft(const Irfft::Args& args, const Launch&) {
  const Irfft::Problem& p = args.problem;
  for (int64_t row = 0; row < args.rows; ++row)
    for (int64_t t = 0; t < p.count; ++t) {
      double sum = 0;
      for (int64_t k = 0; k < bins_read(p); ++k) {
        const int64_t at = (row * p.bins + k) * 2;
        // The angle from what is left of whole turns, so that it stays exact.
        const double angle =
            2 * std::numbers::pi * static_cast<double>(k * t % p.count) / static_cast<double>(p.count);
        const double real = real_at(p.dtype, args.src, at) * std::cos(angle);
        if (is_single_bin(k, p.count))
          sum += real;
        else
          sum += 2 * (real - real_at(p.dtype, args.src, at + 1) * std::sin(angle));
      }
      put_real(p.dtype, args.scale * sum, args.dst, row * p.count + t);
    }
}

}  // namespace orrery::kernels::ref
