// Windows of convolutions and pools as nodes say them: attributes that are one number for all spatial dims,
// or one for each.
#pragma once

#include "engine/ops/tensor_support.h"
#include "kernels/window.h"

namespace orrery::ops {

/// The last `dims` of the three that kernels have; those before have windows of one element.
struct NodeWindow {
  kernels::Window window;
  int64_t after[kernels::kSpatial] = {0, 0, 0};  // places after the last element
  int dims = 0;

  /// The kernels' dim of a spatial dim.
  int at(int spatial) const { return kernels::kSpatial - dims + spatial; }
};

/// Reads stride, padding and dilation, where the op has them, for windows of so many taps; `kernel` has one
/// number a dim.
Result<NodeWindow> window_of(const Attributes& attributes, std::span<const int64_t> kernel);

/// One number for each of `dims`: `named` as it is, or its only one for all; `otherwise` where it is empty.
Result<std::vector<int64_t>> per_dim(const Attributes& attributes, std::string_view name, int dims,
                                     int64_t otherwise, int64_t least);

/// Refuses src but [n, channels, spatial] with fixed sizes behind n.
Result<void> expect_image(const NodeView& view, std::string_view name, int dims, std::string_view op);

/// The spatial sizes of a value (n, channels, spatial), after dims of size 1.
void spatial_sizes(const ValueType& type, int dims, int64_t (&sizes)[kernels::kSpatial]);

/// stride, padding, dilation.
std::vector<AttributeSpec> window_attributes(std::string stride);

}  // namespace orrery::ops
