#include "engine/compile/plan.h"

namespace orrery::compile {

kernels::DeviceKind runs_on(const graph::Node& node, kernels::DeviceKind home) {
  const std::string_view device = graph::device_of(node);
  if (device.empty()) return home;
  return device == graph::kCpu ? kernels::DeviceKind::cpu : kernels::DeviceKind::cuda;
}

size_t Transfer::bytes(const ops::StepContext& step) const {
  const auto elements = static_cast<size_t>(element_count(type.shape, step.bindings()).value_or(0));
  const DTypeInfo info = dtype_info(type.dtype);
  const auto block = static_cast<size_t>(info.block_elements);
  return (elements + block - 1) / block * static_cast<size_t>(info.block_bytes);
}

}  // namespace orrery::compile
