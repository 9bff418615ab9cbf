// Rows of IrfftBackward (irfft.h), in O(n log n) for every n (fourier.h). An item is a row: its elements are
// transformed in float64, which gives their sums with cosines and sines, and weighed for the bins that have a
// conjugate.
//   workspace  as of Irfft: tables, then per thread three rows of complex float64
//   traffic    grad_dst and grad_src once
#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/fourier.h"
#include "kernels/irfft.h"

namespace orrery::kernels {
namespace {

void read_elements(const IrfftBackward::Args& args, int64_t row, Complex* to) {
  const Irfft::Problem& p = args.problem;
  float values[kRun];
  for (int64_t t = 0; t < p.count; t += kRun) {
    const int64_t n = std::min(kRun, p.count - t);
    load_run(p.dtype, at(p.dtype, args.grad_dst, row * p.count + t), 1, n, values);
    for (int64_t i = 0; i < n; ++i) to[t + i] = values[i];
  }
}

void write_bins(const IrfftBackward::Args& args, int64_t row, const Complex* sums) {
  const Irfft::Problem& p = args.problem;
  const int64_t read = bins_read(p);
  float pairs[kRun];
  for (int64_t first = 0; first < p.bins; first += kRun / 2) {
    const int64_t n = std::min(kRun / 2, p.bins - first);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = first + i;
      const bool single = is_single_bin(k, p.count);
      const double weight = k >= read ? 0 : single ? args.scale : 2 * args.scale;
      pairs[2 * i] = k >= read ? 0 : static_cast<float>(weight * sums[k].real());
      pairs[2 * i + 1] = k >= read || single ? 0 : static_cast<float>(-weight * sums[k].imag());
    }
    store_run(p.dtype, pairs, 2 * n, at(p.dtype, args.grad_src, (row * p.bins + first) * 2), 1);
  }
}

void run_transposed(const IrfftBackward::Args& args, const Launch& launch) {
  const int64_t count = args.problem.count;
  const FourierTransform transform(count, launch.workspace);
  Complex* own = transform.roots + transform.shared();
  transform.fill_tables(own);
  split(launch, args.rows, count * 16, [&](int64_t begin, int64_t end, int thread) {
    Complex* rows = own + transform.of_thread() * thread;
    for (int64_t row = begin; row < end; ++row) {
      read_elements(args, row, rows);
      write_bins(args, row, transform(rows));
    }
  });
}

size_t transposed_bytes(const Irfft::Problem& problem, const Machine&, int threads) {
  const FourierTransform transform(problem.count);
  return static_cast<size_t>(transform.shared() + transform.of_thread() * threads) * sizeof(Complex);
}

}  // namespace

std::span<const Row<IrfftBackward>> irfft_backward_rows() {
  static const Row<IrfftBackward> rows[] = {
      {.name = "cpu.transforms",
       .supports = on_any_machine<IrfftBackward, ref::legal>,
       .run = run_transposed,
       .workspace = transposed_bytes},
      {.name = "cpu.reference",
       .supports = on_any_machine<IrfftBackward, ref::legal>,
       .run = ref::irfft_backward},
  };
  return rows;
}

}  // namespace orrery::kernels
