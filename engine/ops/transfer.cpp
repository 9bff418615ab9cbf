// transfer: dst = src, on the device that the node's device attribute names. The compiler makes its step: it
// is a copy between two memories, so no device has a row for it.
#include "engine/ops/lower_support.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  if (text(*view.attributes, graph::kDeviceAttribute).empty())
    return bad_attribute("a transfer needs a device: where its result lies");
  if (!text(*view.attributes, graph::kStoredAttribute).empty())
    return bad_attribute("a transfer carries a value as it is, and stores it in no other type");
  return std::vector{*view.inputs[0]};
}

/// What crosses between the devices.
Cost cost(const NodeView& view, const Bindings& bindings) { return {0, bytes(*view.inputs[0], bindings)}; }

}  // namespace

OpSchema transfer_op() {
  return {.name = std::string(graph::kTransferOp),
          .family = OpFamily::data_movement,
          .doc = "Carries a value to the device that reads it next.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost};
}

}  // namespace orrery::ops
