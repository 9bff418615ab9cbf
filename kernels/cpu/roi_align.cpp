// Rows of RoiAlign (roi_align.h). An item is a row of cells of a box and a channel.
//   traffic  four elements a sample, from L1 and L2 where samples are close; dst once
#include "kernels/roi_align.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

class RoiPlane {
 public:
  RoiPlane(const RoiAlign::Problem& problem, const void* src, int64_t plane)
      : p_(problem), src_(at(problem.dtype, src, plane * problem.height * problem.width)) {}

  /// The mean or the largest of the samples of a cell.
  float cell(const RoiCells& cells, int64_t i, int64_t j) const {
    float sum = 0, largest = -std::numeric_limits<float>::infinity();
    for (int64_t s = 0; s < cells.down; ++s) {
      const RoiSample y(cells.row(i, s), p_.height);
      for (int64_t t = 0; t < cells.across; ++t) {
        const float value = sample(y, RoiSample(cells.col(j, t), p_.width));
        sum += value;
        if (value > largest || std::isnan(value)) largest = value;
      }
    }
    const int64_t count = cells.down * cells.across;
    if (count == 0) return 0;
    return p_.largest ? largest : sum / static_cast<float>(count);
  }

 private:
  float sample(const RoiSample& y, const RoiSample& x) const {
    if (!y.inside || !x.inside) return 0;
    const auto right = static_cast<float>(x.part), down = static_cast<float>(y.part);
    const float upper = element(y.low, x.low) * (1 - right) + element(y.low, x.high) * right;
    const float lower = element(y.high, x.low) * (1 - right) + element(y.high, x.high) * right;
    return upper * (1 - down) + lower * down;
  }
  float element(int64_t row, int64_t col) const {
    float value = 0;
    load_run(p_.dtype, at(p_.dtype, src_, row * p_.width + col), 1, 1, &value);
    return value;
  }

  const RoiAlign::Problem& p_;
  const void* src_;
};

void run_cells(const RoiAlign::Args& args, const Launch& launch) {
  const RoiAlign::Problem& p = args.problem;
  const int64_t samples = std::max<int64_t>(p.samples, 2);
  split(launch, args.boxes * p.channels * p.rows, p.cols * samples * samples * 4,
        [&](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t row = item % p.rows, channel = item / p.rows % p.channels;
            const RoiCells cells(p, args.box + item / p.rows / p.channels * 5, args.images);
            const RoiPlane plane(p, args.src, std::max<int64_t>(cells.image, 0) * p.channels + channel);
            float values[kRun];
            for (int64_t first = 0; first < p.cols; first += kRun) {
              const int64_t n = std::min(kRun, p.cols - first);
              for (int64_t j = 0; j < n; ++j)
                values[j] = cells.image < 0 ? std::numeric_limits<float>::quiet_NaN()
                                            : plane.cell(cells, row, first + j);
              store_run(p.dtype, values, n, at(p.dtype, args.dst, item * p.cols + first), 1);
            }
          }
        });
}

}  // namespace

std::span<const Row<RoiAlign>> roi_align_rows() {
  static const Row<RoiAlign> rows[] = {
      {.name = "cpu.cells", .supports = on_any_machine<RoiAlign, ref::legal>, .run = run_cells},
      {.name = "cpu.reference", .supports = on_any_machine<RoiAlign, ref::legal>, .run = ref::roi_align},
  };
  return rows;
}

}  // namespace orrery::kernels
