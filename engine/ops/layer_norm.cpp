// layer_norm: dst = (src - mean) * weight / sqrt(variance + eps) + bias
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

constexpr auto kKind = kernels::Norm::Kind::layer;
constexpr InputSpec kInputs[] = {{"src"}, {"weight"}, {"bias", true}};
constexpr std::string_view kOutputs[] = {"dst"};
const AttributeSpec kAttributes[] = {
    {"eps", "Added to the mean of squares before the root", {}, AttributeType::real}};

Types infer(const NodeView& view) { return infer_norm(view, kKind, false); }
Cost cost(const NodeView& view, const Bindings& bindings) { return cost_norm(view, bindings, kKind, false); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_norm(context, node, kKind, false);
}

const OpSchema kSchema{"layer_norm",
                       OpFamily::norm,
                       "Layer normalisation of each row (Ba et al. 2016).",
                       kInputs,
                       kOutputs,
                       kAttributes,
                       infer,
                       cost};

}  // namespace

const Op kLayerNorm{&kSchema, lower};

}  // namespace orrery::ops
