// tanh: dst = tanh(src)
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 1); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::tanh);
}

}  // namespace

OpSchema tanh_op() {
  return {.name = "tanh",
          .family = OpFamily::activation,
          .doc = "Hyperbolic tangent.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_unary,
          .cost = cost,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
