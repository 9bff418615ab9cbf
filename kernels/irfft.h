// Real signals of their spectra (inverse FFT of what a real signal has):
//   dst[r, t] = scale * (Re X[0] + sum over 0 < k < n / 2 of 2 (Re X[k] cos a - Im X[k] sin a)
//                        + (n even) Re X[n / 2] cos(pi t)),   a = 2 pi k t / n
//   layout: src (rows, bins, 2), real and imaginary parts, dst (rows, n), without gaps; floats of one type
// Bins after the first n / 2 + 1 are not read, missing ones are 0. The imaginary parts of the first and,
// where n is even, of the last bin count for nothing. n is any length. A NaN or an infinity leaves no element
// of its row a number; which ones become infinite is not said.
// The gradients of a spectrum are the transposed sums:
//   grad_src[r, k] = scale * w (sum over t of g[r, t] cos a, - sum over t of g[r, t] sin a),   g = grad_dst
// with w = 2, and of a bin without a conjugate w = 1 and no imaginary part. Bins that are not read have 0.
#pragma once

#include "kernels/host_device.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Irfft {
  static constexpr std::string_view kName = "irfft";
  struct Problem {
    DType dtype = DType::f32;
    int64_t bins = 1, count = 1;  // of a row of src and of dst
  };
  struct Args {
    Problem problem;
    int64_t rows = 0;
    double scale = 1.0;
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

/// Bins of a row that are read.
ORRERY_HOST_DEVICE constexpr int64_t bins_read(const Irfft::Problem& problem) {
  const int64_t all = problem.count / 2 + 1;
  return problem.bins < all ? problem.bins : all;
}
/// A bin that has no conjugate beside it.
ORRERY_HOST_DEVICE constexpr bool is_single_bin(int64_t bin, int64_t count) {
  return bin == 0 || 2 * bin == count;
}

struct IrfftBackward {
  static constexpr std::string_view kName = "irfft_backward";
  using Problem = Irfft::Problem;
  struct Args {
    Problem problem;
    int64_t rows = 0;
    double scale = 1.0;
    const void* grad_dst = nullptr;  // as dst
    void* grad_src = nullptr;        // as src
  };
};

std::span<const Row<Irfft>> irfft_rows();
std::span<const Row<IrfftBackward>> irfft_backward_rows();
namespace cuda {
std::span<const Row<Irfft>> irfft_rows();
std::span<const Row<IrfftBackward>> irfft_backward_rows();
}  // namespace cuda
namespace ref {
void irfft_backward(const IrfftBackward::Args& args, const Launch& launch);
void irfft(const Irfft::Args& args, const Launch& launch);
std::string legal(const Irfft::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
