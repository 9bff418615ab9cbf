// scale: dst = factor * src
#include <cmath>

#include "engine/ops/gradients.h"
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  if (const double factor = real(*view.attributes, "factor"); !std::isfinite(factor))
    return bad_attribute(fmt::format("factor is {}; it must be finite", factor));
  const ValueType& type = *view.inputs[0];  // a vector is one row
  if (type.dtype == DType::f32 && type.shape.size() == 1) return std::vector{type};
  return infer_unary(view);
}

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 1); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::scale, real(node.attributes, "factor"));
}

}  // namespace

OpSchema scale_op() {
  return {.name = "scale",
          .family = OpFamily::elementwise,
          .doc = "Multiplies by a number.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"factor", "Multiplies every element", {}, AttributeType::real}},
          .infer = infer,
          .cost = cost,
          .gradient = [](Gradients& at) { at.give(0, apply("scale", at.gradient(), at.attributes())); },
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
