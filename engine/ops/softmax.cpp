// softmax: dst = exp(src - max) / sum, row by row
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 5); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::softmax);
}

const OpSchema kSchema{
    "softmax", OpFamily::activation, "Turns each row into probabilities.", kInputs, kOutputs, {}, infer_unary,
    cost};

}  // namespace

const Op kSoftmax{&kSchema, lower};

}  // namespace orrery::ops
