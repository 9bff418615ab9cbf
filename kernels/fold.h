// Sums of windows that overlap, put where they were taken from (the transpose of taking windows apart):
//   dst[n, c, q] = sum over the taps k of src[n, c, k, p], where p * stride - padding + k * dilation = q
//   layout: src (planes, taps, places), dst (planes, size), without gaps, planes being images and channels,
//           taps and places those of a window over two dims (window.h); floats of one type
// Sums are float32, in the order of the taps. A place that no window covers is 0.
#pragma once

#include "kernels/row.h"
#include "kernels/window.h"

namespace orrery::kernels {

struct Fold {
  static constexpr std::string_view kName = "fold";
  struct Problem {
    DType dtype = DType::f32;
    int64_t planes = 1;                    // at most, in a call
    int64_t size[kSpatial] = {1, 1, 1};    // of dst
    int64_t places[kSpatial] = {1, 1, 1};  // of windows
    Window window = {};
  };
  struct Args {
    Problem problem;  // with the planes of the call
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

std::span<const Row<Fold>> fold_rows();
namespace cuda {
std::span<const Row<Fold>> fold_rows();
}
namespace ref {
void fold(const Fold::Args& args, const Launch& launch);
std::string legal(const Fold::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
