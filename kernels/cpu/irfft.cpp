// Rows of Irfft (irfft.h), in O(n log n) for every n (fourier.h). An item is a row: its spectrum is completed
// by the conjugates, transformed in float64, and its real parts are kept.
//   workspace  roots of unity, c and the transform of conj(c); then per thread three rows of complex float64
//   traffic    src and dst once
#include "kernels/irfft.h"

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/fourier.h"

namespace orrery::kernels {
namespace {

/// The spectrum of a row, completed by the conjugates.
void read_spectrum(const Irfft::Args& args, int64_t row, Complex* to) {
  const Irfft::Problem& p = args.problem;
  std::fill_n(to, p.count, Complex(0));
  float pair[2];
  for (int64_t k = 0; k < bins_read(p); ++k) {
    load_run(p.dtype, at(p.dtype, args.src, (row * p.bins + k) * 2), 1, 2, pair);
    if (is_single_bin(k, p.count)) {
      to[k] = pair[0];
    } else {
      to[k] = {pair[0], pair[1]};
      to[p.count - k] = {pair[0], -pair[1]};
    }
  }
}

void run_transforms(const Irfft::Args& args, const Launch& launch) {
  const Irfft::Problem& p = args.problem;
  const FourierTransform transform(p.count, launch.workspace);
  Complex* own = transform.roots + transform.shared();
  transform.fill_tables(own);
  split(launch, args.rows, p.count * 16, [&](int64_t begin, int64_t end, int thread) {
    Complex* rows = own + transform.of_thread() * thread;
    for (int64_t row = begin; row < end; ++row) {
      read_spectrum(args, row, rows);
      const Complex* signal = transform(rows);
      float values[kRun];
      for (int64_t t = 0; t < p.count; t += kRun) {
        const int64_t n = std::min(kRun, p.count - t);
        for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(args.scale * signal[t + i].real());
        store_run(p.dtype, values, n, at(p.dtype, args.dst, row * p.count + t), 1);
      }
    }
  });
}

size_t transform_bytes(const Irfft::Problem& problem, const Machine&, int threads) {
  const FourierTransform transform(problem.count);
  return static_cast<size_t>(transform.shared() + transform.of_thread() * threads) * sizeof(Complex);
}

}  // namespace

std::span<const Row<Irfft>> irfft_rows() {
  static const Row<Irfft> rows[] = {
      {.name = "cpu.transforms",
       .supports = on_any_machine<Irfft, ref::legal>,
       .run = run_transforms,
       .workspace = transform_bytes},
      {.name = "cpu.reference", .supports = on_any_machine<Irfft, ref::legal>, .run = ref::irfft},
  };
  return rows;
}

}  // namespace orrery::kernels
