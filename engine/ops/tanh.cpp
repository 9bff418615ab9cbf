// tanh: dst = tanh(src)
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 1); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::tanh);
}

const OpSchema kSchema{
    "tanh", OpFamily::activation, "Hyperbolic tangent.", kInputs, kOutputs, {}, infer_unary, cost};

}  // namespace

const Op kTanh{&kSchema, lower};

}  // namespace orrery::ops
