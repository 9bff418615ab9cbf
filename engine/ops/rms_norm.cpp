// rms_norm: dst = src * weight / sqrt(mean(src^2) + eps)
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

constexpr auto kKind = kernels::Norm::Kind::rms;
constexpr InputSpec kInputs[] = {{"src"}, {"weight"}};
constexpr std::string_view kOutputs[] = {"dst"};
const AttributeSpec kAttributes[] = {
    {"eps", "Added to the mean of squares before the root", {}, AttributeType::real}};

Types infer(const NodeView& view) { return infer_norm(view, kKind, false); }
Cost cost(const NodeView& view, const Bindings& bindings) { return cost_norm(view, bindings, kKind, false); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_norm(context, node, kKind, false);
}

const OpSchema kSchema{"rms_norm",
                       OpFamily::norm,
                       "Root-mean-square normalisation of each row (Zhang and Sennrich 2019).",
                       kInputs,
                       kOutputs,
                       kAttributes,
                       infer,
                       cost};

}  // namespace

const Op kRmsNorm{&kSchema, lower};

}  // namespace orrery::ops
