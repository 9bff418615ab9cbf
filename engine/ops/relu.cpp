// relu: dst = max(src, 0)
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 1); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::relu);
}

}  // namespace

OpSchema relu_op() {
  return {.name = "relu",
          .family = OpFamily::activation,
          .doc = "Zero where negative.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_unary,
          .cost = cost,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
