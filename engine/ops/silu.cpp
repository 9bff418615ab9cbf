// silu: dst = src / (1 + exp(-src))
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 4); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::silu);
}

const OpSchema kSchema{"silu",
                       OpFamily::activation,
                       "Sigmoid-weighted linear unit (Elfwing et al. 2018).",
                       kInputs,
                       kOutputs,
                       {},
                       infer_unary,
                       cost};

}  // namespace

const Op kSilu{&kSchema, lower};

}  // namespace orrery::ops
