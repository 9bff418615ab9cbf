// gelu: dst = src * Phi(src), exact (erf) or by the tanh approximation
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}};
constexpr std::string_view kOutputs[] = {"dst"};
const AttributeSpec kAttributes[] = {{"approximation",
                                      "none: by the error function; tanh: as GPT-2 and Gemma do",
                                      Attribute(std::string("none"))}};

bool is_tanh(const Attributes& attributes) { return text(attributes, "approximation") == "tanh"; }

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_choice(*view.attributes, "approximation", {"none", "tanh"}));
  return infer_unary(view);
}

/// erf: x/sqrt2, erf, +1, x*, /2.  tanh: x^3 (2), *c, +x, *c, tanh, +1, x*, /2.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return cost_unary(view, bindings, is_tanh(*view.attributes) ? 9 : 5);
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, is_tanh(node.attributes) ? Function::gelu_tanh : Function::gelu_erf);
}

const OpSchema kSchema{"gelu",
                       OpFamily::activation,
                       "Gaussian error linear unit (Hendrycks and Gimpel 2016).",
                       kInputs,
                       kOutputs,
                       kAttributes,
                       infer,
                       cost};

}  // namespace

const Op kGelu{&kSchema, lower};

}  // namespace orrery::ops
