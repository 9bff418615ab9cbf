// Gradients of the spectra of real signals, reference: the sums of the formula in float64. One thread.
#include <numbers>

#include "kernels/irfft.h"
#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

void irfft_backward(const IrfftBackward::Args& args, const Launch&) {
  const Irfft::Problem& p = args.problem;
  for (int64_t row = 0; row < args.rows; ++row)
    for (int64_t k = 0; k < p.bins; ++k) {
      double cosines = 0, sines = 0;
      for (int64_t t = 0; k < bins_read(p) && t < p.count; ++t) {
        // The angle from what is left of whole turns, so that it stays exact.
        const double angle =
            2 * std::numbers::pi * static_cast<double>(k * t % p.count) / static_cast<double>(p.count);
        const double grad = real_at(p.dtype, args.grad_dst, row * p.count + t);
        cosines += grad * std::cos(angle);
        sines += grad * std::sin(angle);
      }
      const bool single = is_single_bin(k, p.count);
      const int64_t at = (row * p.bins + k) * 2;
      put_real(p.dtype, args.scale * (single ? cosines : 2 * cosines), args.grad_src, at);
      put_real(p.dtype, single || k >= bins_read(p) ? 0 : -2 * args.scale * sines, args.grad_src, at + 1);
    }
}

}  // namespace orrery::kernels::ref
