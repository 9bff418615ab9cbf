#include "kernels/lab/roi_align_case.h"

#include <cmath>

#include "kernels/lab/stored.h"

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

/// Of all cells: boxes say how many there are.
double roi_samples(const RoiAlign::Problem& problem, const std::vector<float>& boxes, int64_t images) {
  double samples = 0;
  for (size_t b = 0; b < boxes.size(); b += 5) {
    const RoiCells cells(problem, boxes.data() + b, images);
    samples +=
        static_cast<double>(cells.down * cells.across * problem.channels * problem.rows * problem.cols);
  }
  return samples;
}

double roi_tolerance(DType dtype) { return dtype == DType::f32 ? 5e-6 : dtype == DType::f16 ? 1e-3 : 8e-3; }

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
  return {{.output = run_reference<RoiAlignCase>(*this, roi_align_rows())[0],
           .tolerance = roi_tolerance(problem.dtype)}};
}

/// Four multiply-adds a sample.
Work RoiAlignCase::work() const {
  const auto written = static_cast<double>(static_cast<int64_t>(boxes_.size()) / 5 * problem.channels *
                                           problem.rows * problem.cols);
  return {.bytes = static_cast<double>(src_.size() + boxes_.size() * sizeof(float)) +
                   written * dtype_info(problem.dtype).block_bytes,
          .flops = 8 * roi_samples(problem, boxes_, images_)};
}

RoiAlignBackwardCase::RoiAlignBackwardCase(const RoiAlign::Problem& asked, int64_t images, int64_t boxes,
                                           uint32_t seed, Distribution distribution, std::vector<float> given)
    : problem{asked, given.empty() ? boxes : static_cast<int64_t>(given.size()) / 5},
      images_(images),
      src_(random_elements(asked.dtype,
                           static_cast<size_t>(images * asked.channels * asked.height * asked.width), seed,
                           distribution)),
      grad_dst_(random_elements(asked.dtype,
                                static_cast<size_t>(problem.boxes * asked.channels * asked.rows * asked.cols),
                                seed + 2, distribution)),
      boxes_(given.empty() ? random_boxes(asked, images, boxes, seed + 1) : std::move(given)) {}

Call<RoiAlignBackward> RoiAlignBackwardCase::place(const Row<RoiAlignBackward>&, Place& place) const {
  const DType dtype = problem.roi.dtype;
  const int64_t count = images_ * problem.roi.channels * problem.roi.height * problem.roi.width;
  Call<RoiAlignBackward> call;
  call.args = {.problem = problem,
               .images = images_,
               .boxes = problem.boxes,
               .grad_dst = put_or_null(grad_dst_, dtype, place),
               .src = place.put(src_, dtype),
               .box = put_or_null(boxes_, place),
               .grad_src = put_result(dtype, count, place)};
  call.read = [args = call.args, count](Place& from) {
    return std::vector<Output>{
        read_result("grad_src", args.problem.roi.dtype, args.grad_src, count, args.problem.roi.width, from)};
  };
  return call;
}

/// Weights and sums of float32; one step of the type for 16 bits.
std::vector<Expected> RoiAlignBackwardCase::expected(const Roundings&) const {
  return {{.output = run_reference<RoiAlignBackwardCase>(*this, roi_align_backward_rows())[0],
           .tolerance = roi_tolerance(problem.roi.dtype)}};
}

/// Four multiply-adds a sample; of the largest one sample a cell, after all were mixed to find it.
Work RoiAlignBackwardCase::work() const {
  const bool largest = problem.roi.largest;
  const double samples = roi_samples(problem.roi, boxes_, images_);
  const double cells = static_cast<double>(grad_dst_.size()) / bytes_of(problem.roi.dtype);
  return {.bytes = static_cast<double>(grad_dst_.size() + boxes_.size() * sizeof(float) +
                                       src_.size() * (largest ? 2 : 1)),
          .flops = 8 * (samples + (largest ? cells : 0))};
}

}  // namespace orrery::kernels::lab
