#include "engine/compile/plan.h"

#include <algorithm>

namespace orrery::compile {

size_t bytes_in(const ops::StepContext& step, const graph::ValueType& type) {
  const auto elements = static_cast<size_t>(element_count(type.shape, step.bindings()).value_or(0));
  const DTypeInfo info = dtype_info(type.dtype);
  const auto block = static_cast<size_t>(info.block_elements);
  return (elements + block - 1) / block * static_cast<size_t>(info.block_bytes);
}

kernels::DeviceId runs_on(const graph::Node& node, kernels::DeviceId home) {
  return kernels::parse_device_id(graph::device_of(node)).value_or(home);
}

bool Plan::only_on_cards() const {
  return !cards.empty() &&
         std::ranges::none_of(segments, [](const Segment& segment) { return segment.device.is_cpu(); });
}

}  // namespace orrery::compile
