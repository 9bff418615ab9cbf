// Pools: the largest or the mean of the elements in each window of a plane, over up to three spatial dims
// (window.h):
//   dst[p, at] = max of src[p, at * stride - padding + k * dilation] over the taps k that read an element
//              = sum of those / count, where count is the number of such taps, or of the taps that lie in
//                the plane or in its padding (counts_padding)
//   layout: src (planes, spatial), dst (planes, spatial), without gaps; floats of one type
// NaN is larger than every number. A window that reads nothing gives -infinity, or 0 / count: NaN where count
// is 0 too. Sums are float32, in the order of the taps.
// The gradients of the largest go to where it was found:
//   grad_src[p, e] = sum of grad_dst[p, at] over the windows whose largest element is e
// which is the first of equal ones, and of several NaN the last, as one finds it that compares in the order
// of the taps (PyTorch's rule). Sums are float32, in the order of the windows.
#pragma once

#include "kernels/row.h"
#include "kernels/window.h"

namespace orrery::kernels {

struct Pooling {
  static constexpr std::string_view kName = "pooling";
  enum class Function : uint8_t { max, average };
  struct Problem {
    Function function = Function::max;
    DType dtype = DType::f32;
    bool counts_padding = false;
    int64_t planes = 1;  // at most, in a call
    int64_t src_size[kSpatial] = {1, 1, 1}, dst_size[kSpatial] = {1, 1, 1};
    Window window = {};
    int64_t after[kSpatial] = {0, 0, 0};  // places of padding after the last element
  };
  struct Args {
    Problem problem;  // with the planes of the call
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

/// Taps of the windows of a place that lie in a dim or in its padding.
ORRERY_HOST_DEVICE inline int64_t taps_inside(const Pooling::Problem& problem, int dim, int64_t place) {
  const Window& window = problem.window;
  const int64_t room =
      problem.src_size[dim] + problem.after[dim] - (place * window.stride[dim] - window.padding[dim]);
  if (room <= 0) return 0;
  const int64_t fitting = (room - 1) / window.dilation[dim] + 1;
  return fitting < window.kernel[dim] ? fitting : window.kernel[dim];
}

/// The taps of a window that read an element of a dim: [begin, end), of which tap k reads start + k *
/// dilation.
struct PoolTaps {
  int64_t start, begin, end;

  ORRERY_HOST_DEVICE PoolTaps(const Window& window, int dim, int64_t place, int64_t size)
      : start(place * window.stride[dim] - window.padding[dim]) {
    const int64_t apart = window.dilation[dim];
    begin = start < 0 ? (-start + apart - 1) / apart : 0;
    end = start < size ? (size - 1 - start) / apart + 1 : 0;
    if (end > window.kernel[dim]) end = window.kernel[dim];
  }
};

struct PoolingBackward {
  static constexpr std::string_view kName = "pooling_backward";
  using Problem = Pooling::Problem;  // of the largest
  struct Args {
    Problem problem;                 // with the planes of the call
    const void* grad_dst = nullptr;  // (planes, dst_size)
    const void* src = nullptr;
    void* grad_src = nullptr;  // as src
  };
};

std::span<const Row<Pooling>> pooling_rows();
std::span<const Row<PoolingBackward>> pooling_backward_rows();
namespace cuda {
std::span<const Row<Pooling>> pooling_rows();
std::span<const Row<PoolingBackward>> pooling_backward_rows();
}  // namespace cuda
namespace ref {
void pooling_backward(const PoolingBackward::Args& args, const Launch& launch);
std::string legal_backward(const PoolingBackward::Problem& problem);
void pooling(const Pooling::Args& args, const Launch& launch);
std::string legal(const Pooling::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
