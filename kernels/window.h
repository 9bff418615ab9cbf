// Windows over up to three spatial dims, of convolutions and pools: where the taps of a window lie. Ops of
// one or two spatial dims have sizes of 1 before them.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/host_device.h"

namespace orrery::kernels {

inline constexpr int kSpatial = 3;  // depth, height, width

/// Tap k of the window of place p reads element p * stride - padding + k * dilation of each dim.
struct Window {
  int64_t kernel[kSpatial] = {1, 1, 1};  // taps
  int64_t stride[kSpatial] = {1, 1, 1};
  int64_t padding[kSpatial] = {0, 0, 0};  // places before the first element
  int64_t dilation[kSpatial] = {1, 1, 1};

  ORRERY_HOST_DEVICE int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// From its first tap to its last.
  ORRERY_HOST_DEVICE int64_t extent(int dim) const { return (kernel[dim] - 1) * dilation[dim] + 1; }
  /// The element that a tap of a window reads, of `size`; -1: there is none.
  ORRERY_HOST_DEVICE int64_t reads(int dim, int64_t place, int64_t tap, int64_t size) const {
    const int64_t at = place * stride[dim] - padding[dim] + tap * dilation[dim];
    return at >= 0 && at < size ? at : -1;
  }
  /// The place in whose window a tap reads the element, of `places`; -1: there is none.
  ORRERY_HOST_DEVICE int64_t read_by(int dim, int64_t element, int64_t tap, int64_t places) const {
    const int64_t at = element + padding[dim] - tap * dilation[dim];
    if (at < 0 || at % stride[dim] != 0) return -1;
    return at / stride[dim] < places ? at / stride[dim] : -1;
  }
};

ORRERY_HOST_DEVICE constexpr int64_t volume(const int64_t (&sizes)[kSpatial]) {
  return sizes[0] * sizes[1] * sizes[2];
}

/// What is wrong with it, empty when nothing is.
inline std::string wrong_window(const Window& window) {
  for (int d = 0; d < kSpatial; ++d) {
    if (window.kernel[d] < 1 || window.stride[d] < 1 || window.dilation[d] < 1)
      return "a window needs a kernel, a stride and a dilation of at least 1";
    if (window.padding[d] < 0) return "a padding of " + std::to_string(window.padding[d]);
  }
  return {};
}
inline std::string wrong_sizes(const int64_t (&sizes)[kSpatial]) {
  for (const int64_t size : sizes)
    if (size < 1) return "a spatial size of " + std::to_string(size);
  return {};
}

}  // namespace orrery::kernels
