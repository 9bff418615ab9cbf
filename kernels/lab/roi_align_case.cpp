#include "kernels/lab/roi_align_case.h"

#include <cmath>

namespace orrery::kernels::lab {
namespace {

std::vector<float> random_boxes(const RoiAlign::Problem& problem, int64_t images, int64_t boxes,
                                uint32_t seed) {
  const std::vector<float> random =
      random_floats(static_cast<size_t>(boxes) * 5, seed, 1.0F, Distribution::uniform);  // in [-1, 1)
  std::vector<float> made;
  for (size_t b = 0; b < static_cast<size_t>(boxes); ++b) {
    const float* r = random.data() + b * 5;
    const float width = static_cast<float>(problem.width) / problem.scale;
    const float height = static_cast<float>(problem.height) / problem.scale;
    const float x = (r[1] * 0.6F + 0.4F) * width, y = (r[2] * 0.6F + 0.4F) * height;
    made.push_back(std::floor((r[0] + 1) / 2 * static_cast<float>(images)));
    made.insert(made.end(), {x, y, x + (r[3] + 1) / 3 * width, y + (r[4] + 1) / 3 * height});
  }
  return made;
}

}  // namespace

RoiAlignCase::RoiAlignCase(const RoiAlign::Problem& asked, int64_t images, int64_t boxes, uint32_t seed,
                           Distribution distribution, std::vector<float> given)
    : problem(asked),
      images_(images),
      src_(random_elements(asked.dtype,
                           static_cast<size_t>(images * asked.channels * asked.height * asked.width), seed,
                           distribution)),
      boxes_(given.empty() ? random_boxes(asked, images, boxes, seed + 1) : std::move(given)) {}

Call<RoiAlign> RoiAlignCase::place(const Row<RoiAlign>&, Place& place) const {
  const auto boxes = static_cast<int64_t>(boxes_.size()) / 5;
  const size_t bytes =
      row_bytes(problem.dtype, boxes * problem.channels * problem.rows * problem.cols).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<RoiAlign> call;
  call.args = {.problem = problem,
               .images = images_,
               .boxes = boxes,
               .src = place.put(src_, problem.dtype),
               .box = place.put(boxes_),
               .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype, cols = problem.cols](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Weights and sums of float32; one step of the type for 16 bits.
std::vector<Expected> RoiAlignCase::expected(const Roundings&) const {
  const double tolerance = problem.dtype == DType::f32 ? 5e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<RoiAlignCase>(*this, roi_align_rows())[0], .tolerance = tolerance}};
}

/// Four multiply-adds a sample, of which the box says how many there are.
Work RoiAlignCase::work() const {
  double samples = 0;
  for (size_t b = 0; b < boxes_.size(); b += 5) {
    const RoiCells cells(problem, boxes_.data() + b, images_);
    samples +=
        static_cast<double>(cells.down * cells.across * problem.channels * problem.rows * problem.cols);
  }
  const auto written = static_cast<double>(static_cast<int64_t>(boxes_.size()) / 5 * problem.channels *
                                           problem.rows * problem.cols);
  return {.bytes = static_cast<double>(src_.size() + boxes_.size() * sizeof(float)) +
                   written * dtype_info(problem.dtype).block_bytes,
          .flops = 8 * samples};
}

}  // namespace orrery::kernels::lab
