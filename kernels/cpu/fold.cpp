// Rows of Fold (fold.h). An item is a row of dst: tap by tap, the run of places that it takes is brought,
// converted, and added to the row's sums, `stride` apart.
//   workspace  per thread: a row of sums
//   traffic    src once, dst once
#include "kernels/fold.h"

#include <algorithm>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

/// Adds what tap kx of the places of a row of windows, the first of which is element `from`, brings to a row.
void add_places(const Fold::Args& args, int64_t from, int64_t kx, float* sums) {
  const Fold::Problem& p = args.problem;
  const int64_t stride = p.window.stride[2], start = kx * p.window.dilation[2] - p.window.padding[2];
  const int64_t first = start < 0 ? (-start + stride - 1) / stride : 0;
  const int64_t end = start < p.size[2] ? std::min(p.places[2], (p.size[2] - 1 - start) / stride + 1) : 0;
  float part[kRun];
  for (int64_t x = first; x < end; x += kRun) {
    const int64_t n = std::min(kRun, end - x);
    load_run(p.dtype, at(p.dtype, args.src, from + x), 1, n, part);
    float* to = sums + x * stride + start;
    for (int64_t i = 0; i < n; ++i) to[i * stride] += part[i];
  }
}

void fold_row(const Fold::Args& args, int64_t plane, int64_t z, int64_t y, float* sums) {
  const Fold::Problem& p = args.problem;
  const int64_t(&kernel)[kSpatial] = p.window.kernel;
  std::fill_n(sums, p.size[2], 0.0F);
  for (int64_t k = 0; k < p.window.taps(); ++k) {
    const int64_t deep = p.window.read_by(0, z, k / (kernel[1] * kernel[2]), p.places[0]);
    const int64_t high = p.window.read_by(1, y, k / kernel[2] % kernel[1], p.places[1]);
    if (deep < 0 || high < 0) continue;
    const int64_t row = (plane * p.window.taps() + k) * p.places[0] + deep;
    add_places(args, (row * p.places[1] + high) * p.places[2], k % kernel[2], sums);
  }
}

void fold_rows_of(const Fold::Args& args, const Launch& launch) {
  const Fold::Problem& p = args.problem;
  const int64_t width = p.size[2];
  split(launch, p.planes * p.size[0] * p.size[1], width * p.window.taps(),
        [&](int64_t begin, int64_t end, int thread) {
          float* sums = reinterpret_cast<float*>(launch.workspace) + thread * width;
          for (int64_t item = begin; item < end; ++item) {
            fold_row(args, item / (p.size[0] * p.size[1]), item / p.size[1] % p.size[0], item % p.size[1],
                     sums);
            for (int64_t x = 0; x < width; x += kRun)
              store_run(p.dtype, sums + x, std::min(kRun, width - x), at(p.dtype, args.dst, item * width + x),
                        1);
          }
        });
}

size_t sums_of_threads(const Fold::Problem& problem, const Machine&, int threads) {
  return static_cast<size_t>(problem.size[2] * threads) * sizeof(float);
}

}  // namespace

std::span<const Row<Fold>> fold_rows() {
  static const Row<Fold> rows[] = {
      {.name = "cpu.runs",
       .supports = on_any_machine<Fold, ref::legal>,
       .run = fold_rows_of,
       .workspace = sums_of_threads},
      {.name = "cpu.reference", .supports = on_any_machine<Fold, ref::legal>, .run = ref::fold},
  };
  return rows;
}

}  // namespace orrery::kernels
