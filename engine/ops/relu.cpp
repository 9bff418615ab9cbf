// relu: dst = max(src, 0)
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 1); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::relu);
}

const OpSchema kSchema{
    "relu", OpFamily::activation, "Zero where negative.", kInputs, kOutputs, {}, infer_unary, cost};

}  // namespace

const Op kRelu{&kSchema, lower};

}  // namespace orrery::ops
