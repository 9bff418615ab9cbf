#include "engine/ops/window_support.h"

#include <algorithm>

namespace orrery::ops {
namespace {

constexpr std::string_view kShapes[] = {"[n, channels, width]", "[n, channels, height, width]",
                                        "[n, channels, depth, height, width]"};

/// Places before the first and after the last element of each dim: one number, one a dim, or two a dim.
Result<void> read_padding(const Attributes& attributes, NodeWindow& window) {
  const std::vector<int64_t> padding = list(attributes, "padding");
  const auto dims = static_cast<size_t>(window.dims);
  const bool all = padding.size() == 1, each = padding.size() == dims, sides = padding.size() == 2 * dims;
  if (!padding.empty() && !all && !each && !sides)
    return bad_attribute(fmt::format(
        "padding has {} numbers; it may have one, one for each of {} spatial dims, or two for each",
        padding.size(), dims));
  for (const int64_t each_padding : padding)
    if (each_padding < 0)
      return bad_attribute(fmt::format("padding is {}; it must be 0 or more", fmt::join(padding, ", ")));
  for (size_t d = 0; d < dims && !padding.empty(); ++d) {
    const auto at = static_cast<size_t>(window.at(static_cast<int>(d)));
    window.window.padding[at] = padding[all ? 0 : each ? d : 2 * d];
    window.after[at] = padding[all ? 0 : each ? d : 2 * d + 1];
  }
  return {};
}

}  // namespace

Result<std::vector<int64_t>> per_dim(const Attributes& attributes, std::string_view name, int dims,
                                     int64_t otherwise, int64_t least) {
  std::vector<int64_t> numbers = list(attributes, name);
  if (numbers.empty()) numbers.push_back(otherwise);
  if (numbers.size() == 1) numbers.resize(static_cast<size_t>(dims), numbers.front());
  if (numbers.size() != static_cast<size_t>(dims))
    return bad_attribute(fmt::format("{} has {} numbers; it may have one, or one for each of {} spatial dims",
                                     name, numbers.size(), dims));
  if (std::ranges::any_of(numbers, [&](int64_t number) { return number < least; }))
    return bad_attribute(
        fmt::format("{} is {}; it must be {} or more", name, fmt::join(numbers, ", "), least));
  return numbers;
}

Result<NodeWindow> window_of(const Attributes& attributes, std::span<const int64_t> kernel) {
  NodeWindow made;
  made.dims = static_cast<int>(kernel.size());
  ORRERY_ASSIGN(const std::vector<int64_t> stride, per_dim(attributes, "stride", made.dims, 1, 1));
  ORRERY_ASSIGN(const std::vector<int64_t> dilation, per_dim(attributes, "dilation", made.dims, 1, 1));
  for (int d = 0; d < made.dims; ++d) {
    const auto from = static_cast<size_t>(d), to = static_cast<size_t>(made.at(d));
    made.window.kernel[to] = kernel[from];
    made.window.stride[to] = stride[from];
    made.window.dilation[to] = dilation[from];
  }
  ORRERY_TRY(read_padding(attributes, made));
  return made;
}

Result<void> expect_image(const NodeView& view, std::string_view name, int dims, std::string_view op) {
  ORRERY_TRY(expect_floats(view, 0, name));
  const ValueType& src = *view.inputs[0];
  if (src.shape.size() != static_cast<size_t>(dims) + 2)
    return mismatch(name, fmt::format("{} is {}; {} takes {}", name, to_string(src), op,
                                      kShapes[static_cast<size_t>(dims - 1)]));
  for (size_t d = 1; d < src.shape.size(); ++d)
    if (!src.shape[d].is_constant())
      return mismatch(name, fmt::format("dim {} of {} {} differs from step to step; {} takes fixed sizes", d,
                                        name, to_string(src), op));
  return {};
}

void spatial_sizes(const ValueType& type, int dims, int64_t (&sizes)[kernels::kSpatial]) {
  std::fill(std::begin(sizes), std::end(sizes), 1);
  for (int d = 0; d < dims; ++d)
    sizes[kernels::kSpatial - dims + d] = type.shape[static_cast<size_t>(2 + d)].constant();
}

std::vector<AttributeSpec> window_attributes(std::string stride) {
  const Attribute one = std::vector<int64_t>{1}, none = std::vector<int64_t>{0};
  return {{"stride", std::move(stride), one},
          {"padding",
           "Places around src: one number, one for each spatial dim, or two (before, after) for each", none},
          {"dilation", "From one tap to the next: one number, or one for each spatial dim", one}};
}

}  // namespace orrery::ops
