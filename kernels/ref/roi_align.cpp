// Samples of boxes, reference: float64. One thread.
#include "kernels/roi_align.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

/// One sample of a channel that begins at element `plane`.
double sampled(const RoiAlign::Args& args, int64_t plane, const RoiSample& y, const RoiSample& x) {
  if (!y.inside || !x.inside) return 0;
  const auto element = [&](int64_t row, int64_t col) {
    return real_at(args.problem.dtype, args.src, plane + row * args.problem.width + col);
  };
  const double upper = element(y.low, x.low) * (1 - x.part) + element(y.low, x.high) * x.part;
  const double lower = element(y.high, x.low) * (1 - x.part) + element(y.high, x.high) * x.part;
  return upper * (1 - y.part) + lower * y.part;
}

double of_cell(const RoiAlign::Args& args, const RoiCells& cells, int64_t channel, int64_t i, int64_t j) {
  const RoiAlign::Problem& p = args.problem;
  if (cells.image < 0) return std::numeric_limits<double>::quiet_NaN();
  const int64_t plane = (cells.image * p.channels + channel) * p.height * p.width;
  const int64_t count = cells.down * cells.across;
  double sum = 0, largest = -std::numeric_limits<double>::infinity();
  for (int64_t s = 0; s < cells.down; ++s)
    for (int64_t t = 0; t < cells.across; ++t) {
      const double sample =
          sampled(args, plane, RoiSample(cells.row(i, s), p.height), RoiSample(cells.col(j, t), p.width));
      sum += sample;
      if (sample > largest || std::isnan(sample)) largest = sample;
    }
  if (count == 0) return 0;
  return p.largest ? largest : sum / static_cast<double>(count);
}

}  // namespace

std::string legal(const RoiAlign::Problem& problem) {
  if (!is_float(problem.dtype)) return std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
  if (problem.channels < 1 || problem.height < 1 || problem.width < 1) return "no elements";
  if (problem.rows < 1 || problem.cols < 1) return "no cells";
  return problem.samples < 0 ? "fewer than no samples" : "";
}

void roi_align(const RoiAlign::Args& args, const Launch&) {
  const RoiAlign::Problem& p = args.problem;
  int64_t to = 0;
  for (int64_t r = 0; r < args.boxes; ++r) {
    const RoiCells cells(p, args.box + r * 5, args.images);
    for (int64_t c = 0; c < p.channels; ++c)
      for (int64_t i = 0; i < p.rows; ++i)
        for (int64_t j = 0; j < p.cols; ++j) put_real(p.dtype, of_cell(args, cells, c, i, j), args.dst, to++);
  }
}

}  // namespace orrery::kernels::ref
