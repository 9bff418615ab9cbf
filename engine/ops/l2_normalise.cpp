// l2_normalise: dst = src / sqrt(sum(src^2)), row by row
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 3); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::l2_normalise);
}

const OpSchema kSchema{"l2_normalise",
                       OpFamily::norm,
                       "Scales each row to unit length.",
                       kInputs,
                       kOutputs,
                       {},
                       infer_unary,
                       cost};

}  // namespace

const Op kL2Normalise{&kSchema, lower};

}  // namespace orrery::ops
