// Rows of RoiAlignBackward (roi_align.h). An item is a channel of an image, whose sums lie in the thread's
// memory: box by box, what comes back to each cell is added to the elements that its samples mixed. Threads
// share no sum, so that the bits are the same with any number of them.
//   workspace  per thread: a plane of float32, for the largest another one, and a row of cells
//   traffic    grad_dst and grad_src once, src once for the largest; sums four times a sample, from L1 and L2
#include <algorithm>

#include "kernels/cpu/element_runs.h"
#include "kernels/roi_align.h"

namespace orrery::kernels {
namespace {

class RoiPlaneGradient {
 public:
  /// `elements`: of src, for the largest.
  RoiPlaneGradient(const RoiAlign::Problem& problem, const float* elements, float* sums)
      : p_(problem), elements_(elements), sums_(sums) {}

  void give_cell(const RoiCells& cells, int64_t i, int64_t j, float grad) const {
    const int64_t count = cells.down * cells.across;
    if (p_.largest) {
      const int64_t found = largest_of(cells, i, j);
      if (found >= 0) give(y_of(cells, i, found / cells.across), x_of(cells, j, found % cells.across), grad);
      return;
    }
    const float share = grad / static_cast<float>(count);
    for (int64_t s = 0; s < cells.down; ++s) {
      const RoiSample y = y_of(cells, i, s);
      for (int64_t t = 0; t < cells.across; ++t) give(y, x_of(cells, j, t), share);
    }
  }

 private:
  RoiSample y_of(const RoiCells& cells, int64_t i, int64_t s) const {
    return RoiSample(cells.row(i, s), p_.height);
  }
  RoiSample x_of(const RoiCells& cells, int64_t j, int64_t t) const {
    return RoiSample(cells.col(j, t), p_.width);
  }
  int64_t largest_of(const RoiCells& cells, int64_t i, int64_t j) const {
    LargestSample largest;
    for (int64_t s = 0; s < cells.down; ++s) {
      const RoiSample y = y_of(cells, i, s);
      for (int64_t t = 0; t < cells.across; ++t)
        largest.take(s * cells.across + t, sample(y, x_of(cells, j, t)));
    }
    return largest.number;
  }
  float sample(const RoiSample& y, const RoiSample& x) const {
    if (!y.inside || !x.inside) return 0;
    const auto right = static_cast<float>(x.part), down = static_cast<float>(y.part);
    const auto of_row = [&](int64_t row) {
      const float first = elements_[row * p_.width + x.low] * (1 - right);
      return x.part == 0 ? first : first + elements_[row * p_.width + x.high] * right;
    };
    const float upper = of_row(y.low) * (1 - down);
    return y.part == 0 ? upper : upper + of_row(y.high) * down;
  }
  void give(const RoiSample& y, const RoiSample& x, float grad) const {
    if (!y.inside || !x.inside) return;
    const auto right = static_cast<float>(x.part), down = static_cast<float>(y.part);
    const auto to_row = [&](int64_t row, float part) {
      float* to = sums_ + row * p_.width;
      to[x.low] += part * (1 - right);
      if (x.part != 0) to[x.high] += part * right;
    };
    to_row(y.low, grad * (1 - down));
    if (y.part != 0) to_row(y.high, grad * down);
  }

  const RoiAlign::Problem& p_;
  const float* elements_;
  float* sums_;
};

int64_t floats_of_plane(const RoiAlign::Problem& p) {
  return p.height * p.width * (p.largest ? 2 : 1) + p.cols;
}

void one_roi_plane(const RoiAlignBackward::Args& args, int64_t plane, float* memory) {
  const RoiAlign::Problem& p = args.problem.roi;
  const int64_t elements = p.height * p.width;
  float *sums = memory, *grads = sums + elements, *of_src = grads + p.cols;
  std::fill_n(sums, elements, 0.0F);
  if (p.largest) load_run(p.dtype, at(p.dtype, args.src, plane * elements), 1, elements, of_src);
  const RoiPlaneGradient to(p, of_src, sums);
  for (int64_t r = 0; r < args.boxes; ++r) {
    const RoiCells cells(p, args.box + r * 5, args.images);
    if (cells.image != plane / p.channels) continue;
    int64_t row = (r * p.channels + plane % p.channels) * p.rows;
    for (int64_t i = 0; i < p.rows; ++i, ++row) {
      load_run(p.dtype, at(p.dtype, args.grad_dst, row * p.cols), 1, p.cols, grads);
      for (int64_t j = 0; j < p.cols; ++j) to.give_cell(cells, i, j, grads[j]);
    }
  }
  store_run(p.dtype, sums, elements, at(p.dtype, args.grad_src, plane * elements), 1);
}

void run_roi_planes(const RoiAlignBackward::Args& args, const Launch& launch) {
  const RoiAlign::Problem& p = args.problem.roi;
  const int64_t samples = std::max<int64_t>(p.samples, 2), images = std::max<int64_t>(args.images, 1);
  const int64_t cells = args.boxes * p.rows * p.cols / images;
  auto* rooms = reinterpret_cast<float*>(launch.workspace);
  split(launch, args.images * p.channels, p.height * p.width + cells * samples * samples * 4,
        [&](int64_t begin, int64_t end, int thread) {
          for (int64_t plane = begin; plane < end; ++plane)
            one_roi_plane(args, plane, rooms + thread * floats_of_plane(p));
        });
}

size_t workspace_of_roi_planes(const RoiAlignBackward::Problem& problem, const Machine&, int threads) {
  return static_cast<size_t>(std::max(threads, 1) * floats_of_plane(problem.roi)) * sizeof(float);
}

}  // namespace

std::span<const Row<RoiAlignBackward>> roi_align_backward_rows() {
  static const Row<RoiAlignBackward> rows[] = {
      {.name = "cpu.planes",
       .supports = on_any_machine<RoiAlignBackward, ref::legal>,
       .run = run_roi_planes,
       .workspace = workspace_of_roi_planes},
      {.name = "cpu.reference",
       .supports = on_any_machine<RoiAlignBackward, ref::legal>,
       .run = ref::roi_align_backward},
  };
  return rows;
}

}  // namespace orrery::kernels
