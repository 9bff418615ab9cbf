// scale: dst = factor * src
#include <cmath>

#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};
const AttributeSpec kAttributes[] = {{"factor", "Multiplies every element", {}, AttributeType::real}};

Types infer(const NodeView& view) {
  if (const double factor = real(*view.attributes, "factor"); !std::isfinite(factor))
    return bad_attribute(fmt::format("factor is {}; it must be finite", factor));
  return infer_unary(view);
}

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 1); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::scale, real(node.attributes, "factor"));
}

const OpSchema kSchema{
    "scale", OpFamily::elementwise, "Multiplies by a number.", kInputs, kOutputs, kAttributes, infer, cost};

}  // namespace

const Op kScale{&kSchema, lower};

}  // namespace orrery::ops
