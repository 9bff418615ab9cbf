// Fixed grids of samples from boxes of images (He et al., "Mask R-CNN", 2017):
//   dst[r, c, i, j] = mean, or largest, of the samples of cell (i, j) of box r in channel c
// Box r is (image, x1, y1, x2, y2): x and y times `scale` are coordinates of src, less 1/2 where aligned,
// else with a width and a height of at least 1. It is cut into (rows, cols) cells, and a cell into samples:
// as many as asked each way, or the size of a cell rounded up, at most 4096 (none of a box without a size:
// 0). A sample lies in the middle of its part and mixes the four elements around it; up to one place outside
// it takes those of the border, further out it is 0. Coordinates are float64, so that every device finds the
// same elements. An image that there is not gives NaN.
//   layout: src (images, channels, height, width), boxes (boxes, 5), dst (boxes, channels, rows, cols), all
//           without gaps; floats of one type, boxes f32
// What comes back to a cell goes to the elements that its samples mixed; boxes count as fixed:
//   grad_src[n, c, e] = sum over the cells of boxes of image n of grad_dst[r, c, i, j] * the mean of the
//   weights
//                       of e in the samples of the cell, or its weight in the largest sample
// which is the first of equal ones, and of several NaN the last. An element of weight 0 gets nothing. Sums
// are float32, in the order of the boxes, their cells and samples.
#pragma once

#include "kernels/each_rounded.h"
#include "kernels/host_device.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct RoiAlign {
  static constexpr std::string_view kName = "roi_align";
  struct Problem {
    DType dtype = DType::f32;  // of src and dst
    bool largest = false;      // else the mean
    bool aligned = false;
    int64_t samples = 0;  // of a cell each way; 0: as many as its size
    float scale = 1.0F;
    int64_t channels = 1, height = 1, width = 1, rows = 1, cols = 1;
  };
  struct Args {
    Problem problem;
    int64_t images = 0, boxes = 0;
    const void* src = nullptr;
    const float* box = nullptr;
    void* dst = nullptr;
  };
};

/// The cells of a box, in coordinates of src.
struct RoiCells {
  int64_t image;  // -1: there is none
  double y, x;    // where the first begins
  double height, width;
  int64_t down, across;  // samples of a cell

  ORRERY_HOST_DEVICE RoiCells(const RoiAlign::Problem& problem, const float* box, int64_t images);
  /// Where sample `number` of cell `cell` lies.
  ORRERY_HOST_DEVICE double row(int64_t cell, int64_t number) const {
    return place(y, height, cell, number, down);
  }
  ORRERY_HOST_DEVICE double col(int64_t cell, int64_t number) const {
    return place(x, width, cell, number, across);
  }

 private:
  /// Rounded alike everywhere: a sample on a border is inside on every device or on none.
  ORRERY_HOST_DEVICE static double place(double begin, double size, int64_t cell, int64_t number,
                                         int64_t samples) {
    const double part = (static_cast<double>(number) + 0.5) / static_cast<double>(samples);
    return EachRounded::add(begin, EachRounded::mul(static_cast<double>(cell) + part, size));
  }
  /// Held to 4096, so that no box keeps a kernel busy for ever; NaN has none.
  ORRERY_HOST_DEVICE static int64_t rounded_up(double size) {
    if (!(size > 0.0)) return 0;
    if (size >= 4096.0) return 4096;
    const auto whole = static_cast<int64_t>(size);
    return static_cast<double>(whole) < size ? whole + 1 : whole;
  }
};

/// Where a sample lies in one dim: two elements and how much of the second; none: further out than a place.
struct RoiSample {
  bool inside;
  int64_t low, high;
  double part;

  ORRERY_HOST_DEVICE RoiSample(double at, int64_t size)
      : inside(at >= -1.0 && at <= static_cast<double>(size)) {
    const double held = at > 0.0 ? at : 0.0;
    low = inside ? static_cast<int64_t>(held) : 0;
    if (low >= size - 1) low = size - 1;
    high = low < size - 1 ? low + 1 : low;
    part = high > low ? held - static_cast<double>(low) : 0.0;
  }
};

ORRERY_HOST_DEVICE inline RoiCells::RoiCells(const RoiAlign::Problem& problem, const float* box,
                                             int64_t images) {
  image = box[0] >= 0.0F && box[0] < static_cast<float>(images) ? static_cast<int64_t>(box[0]) : -1;
  const double offset = problem.aligned ? 0.5 : 0.0, scale = problem.scale;
  // Products of two float32 are exact, joined with a sum or not.
  x = box[1] * scale - offset;
  y = box[2] * scale - offset;
  double wide = box[3] * scale - offset - x, high = box[4] * scale - offset - y;
  if (!problem.aligned) {
    wide = wide > 1.0 ? wide : 1.0;
    high = high > 1.0 ? high : 1.0;
  }
  height = high / static_cast<double>(problem.rows);
  width = wide / static_cast<double>(problem.cols);
  down = problem.samples > 0 ? problem.samples : rounded_up(height);
  across = problem.samples > 0 ? problem.samples : rounded_up(width);
}

struct RoiAlignBackward {
  static constexpr std::string_view kName = "roi_align_backward";
  struct Problem {
    RoiAlign::Problem roi;
    int64_t boxes = 1;  // at most, in a call
  };
  struct Args {
    Problem problem;
    int64_t images = 0, boxes = 0;
    const void* grad_dst = nullptr;  // as dst
    const void* src = nullptr;       // read for the largest alone
    const float* box = nullptr;
    void* grad_src = nullptr;  // as src
  };
};

/// Finds the largest of values that come one after the other: their number, -1 before the first.
struct LargestSample {
  int64_t number = -1;
  ORRERY_HOST_DEVICE void take(int64_t candidate, float value) {
    if (number >= 0 && value == value && !(value > largest_)) return;
    number = candidate;
    largest_ = value;
  }

 private:
  float largest_ = 0;
};

std::span<const Row<RoiAlign>> roi_align_rows();
std::span<const Row<RoiAlignBackward>> roi_align_backward_rows();
namespace cuda {
std::span<const Row<RoiAlign>> roi_align_rows();
std::span<const Row<RoiAlignBackward>> roi_align_backward_rows();
}  // namespace cuda
namespace ref {
void roi_align_backward(const RoiAlignBackward::Args& args, const Launch& launch);
std::string legal(const RoiAlignBackward::Problem& problem);
void roi_align(const RoiAlign::Args& args, const Launch& launch);
std::string legal(const RoiAlign::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
