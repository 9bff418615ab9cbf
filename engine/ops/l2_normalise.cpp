// l2_normalise: dst = src / sqrt(sum(src^2)), row by row
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 3); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::l2_normalise);
}

}  // namespace

OpSchema l2_normalise_op() {
  return {.name = "l2_normalise",
          .family = OpFamily::norm,
          .doc = "Scales each row to unit length.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_unary,
          .cost = cost,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
