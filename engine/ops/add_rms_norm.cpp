// add_rms_norm: sum = src + residual; normed = rms_norm(sum)
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

constexpr auto kKind = kernels::Norm::Kind::rms;
constexpr InputSpec kInputs[] = {{"src"}, {"residual"}, {"weight"}};
constexpr std::string_view kOutputs[] = {"sum", "normed"};
const AttributeSpec kAttributes[] = {
    {"eps", "Added to the mean of squares before the root", {}, AttributeType::real}};

Types infer(const NodeView& view) { return infer_norm(view, kKind, true); }
Cost cost(const NodeView& view, const Bindings& bindings) { return cost_norm(view, bindings, kKind, true); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_norm(context, node, kKind, true);
}

const OpSchema kSchema{"add_rms_norm",
                       OpFamily::norm,
                       "Residual sum and its root-mean-square normalisation in one walk over the rows.",
                       kInputs,
                       kOutputs,
                       kAttributes,
                       infer,
                       cost};

}  // namespace

const Op kAddRmsNorm{&kSchema, lower};

}  // namespace orrery::ops
