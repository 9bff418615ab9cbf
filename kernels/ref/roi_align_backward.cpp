// Gradients of the samples of boxes, reference: float64 sums over a plane, box by box. One thread.
#include <cmath>
#include <vector>

#include "kernels/ref/element.h"
#include "kernels/roi_align.h"

namespace orrery::kernels::ref {
namespace {

/// A channel of an image, and what its elements have got so far.
struct RoiSums {
  const RoiAlignBackward::Args& args;
  int64_t plane;  // its first element
  std::vector<double> sums;

  /// value(element, weight) of the elements that a sample mixes.
  template <class Value>
  void each_tap(const RoiSample& y, const RoiSample& x, Value value) const {
    if (!y.inside || !x.inside) return;
    const auto of_row = [&](int64_t row, double weight) {
      value(row * args.problem.roi.width + x.low, weight * (1 - x.part));
      if (x.part != 0) value(row * args.problem.roi.width + x.high, weight * x.part);
    };
    of_row(y.low, 1 - y.part);
    if (y.part != 0) of_row(y.high, y.part);
  }
  double sample(const RoiSample& y, const RoiSample& x) const {
    double mixed = 0;
    each_tap(y, x, [&](int64_t element, double weight) {
      mixed += weight * real_at(args.problem.roi.dtype, args.src, plane + element);
    });
    return mixed;
  }
  void give(const RoiSample& y, const RoiSample& x, double grad) {
    each_tap(y, x,
             [&](int64_t element, double weight) { sums[static_cast<size_t>(element)] += weight * grad; });
  }
  void give_cell(const RoiCells& cells, int64_t i, int64_t j, double grad) {
    const RoiAlign::Problem& p = args.problem.roi;
    const auto y = [&](int64_t s) { return RoiSample(cells.row(i, s), p.height); };
    const auto x = [&](int64_t t) { return RoiSample(cells.col(j, t), p.width); };
    const int64_t count = cells.down * cells.across;
    if (!p.largest) {
      for (int64_t s = 0; s < cells.down; ++s)
        for (int64_t t = 0; t < cells.across; ++t) give(y(s), x(t), grad / static_cast<double>(count));
      return;
    }
    int64_t found = -1;
    double largest = 0;
    for (int64_t n = 0; n < count; ++n) {
      const double value = sample(y(n / cells.across), x(n % cells.across));
      if (found >= 0 && !std::isnan(value) && !(value > largest)) continue;
      found = n;
      largest = value;
    }
    if (found >= 0) give(y(found / cells.across), x(found % cells.across), grad);
  }
};

}  // namespace

std::string legal(const RoiAlignBackward::Problem& problem) { return legal(problem.roi); }

void roi_align_backward(const RoiAlignBackward::Args& args, const Launch&) {
  const RoiAlign::Problem& p = args.problem.roi;
  const int64_t elements = p.height * p.width;
  for (int64_t plane = 0; plane < args.images * p.channels; ++plane) {
    RoiSums to{args, plane * elements, std::vector<double>(static_cast<size_t>(elements))};
    for (int64_t r = 0; r < args.boxes; ++r) {
      const RoiCells cells(p, args.box + r * 5, args.images);
      if (cells.image != plane / p.channels) continue;
      int64_t cell = (r * p.channels + plane % p.channels) * p.rows * p.cols;
      for (int64_t i = 0; i < p.rows; ++i)
        for (int64_t j = 0; j < p.cols; ++j, ++cell)
          to.give_cell(cells, i, j, real_at(p.dtype, args.grad_dst, cell));
    }
    for (int64_t e = 0; e < elements; ++e)
      put_real(p.dtype, to.sums[static_cast<size_t>(e)], args.grad_src, to.plane + e);
  }
}

}  // namespace orrery::kernels::ref
