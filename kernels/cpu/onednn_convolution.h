// oneDNN convolutions of one part of an image: float32, channels last, no padding (what reads the part puts
// zeros around it). Each shape is created once, kept in a bounded cache, and run on the calling thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/window.h"

namespace orrery::kernels::onednn {

struct PartShape {
  int64_t groups, channels, outputs;  // channels and outputs of a group
  std::array<int64_t, kSpatial> dst, kernel, stride, dilation;

  int64_t src(size_t dim) const {
    return (dst[dim] - 1) * stride[dim] + (kernel[dim] - 1) * dilation[dim] + 1;
  }
  int64_t src_elements() const { return src(0) * src(1) * src(2) * groups * channels; }
  int64_t dst_elements() const { return dst[0] * dst[1] * dst[2] * groups * outputs; }
  int64_t weight_elements() const { return groups * outputs * channels * kernel[0] * kernel[1] * kernel[2]; }
  auto operator<=>(const PartShape&) const = default;
};

class PartConvolution;

/// Null when oneDNN offers no implementation here but its reference.
std::shared_ptr<const PartConvolution> part_convolution(const PartShape& shape) noexcept;

size_t packed_bytes(const PartConvolution& convolution);   // of its weights
size_t scratch_bytes(const PartConvolution& convolution);  // of one call of either function

/// Packs weights (groups, outputs, channels, kernel). False when oneDNN failed; so below.
bool pack(const PartConvolution& convolution, const float* weight, std::byte* packed,
          std::byte* scratch) noexcept;

/// dst (spatial, groups * outputs) of src (spatial, groups * channels).
bool run(const PartConvolution& convolution, const float* src, const std::byte* packed, float* dst,
         std::byte* scratch) noexcept;

}  // namespace orrery::kernels::onednn
