// silu: dst = src / (1 + exp(-src))
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 4); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::silu);
}

}  // namespace

OpSchema silu_op() {
  return {.name = "silu",
          .family = OpFamily::activation,
          .doc = "Sigmoid-weighted linear unit (Elfwing et al. 2018).",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_unary,
          .cost = cost,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
