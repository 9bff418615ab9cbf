// softmax: dst = exp(src - max) / sum, row by row
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 5); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::softmax);
}

}  // namespace

OpSchema softmax_op() {
  return {.name = "softmax",
          .family = OpFamily::activation,
          .doc = "Turns each row into probabilities.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_unary,
          .cost = cost,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
