// gelu: dst = src * Phi(src), exact (erf) or by the tanh approximation
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

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

}  // namespace

OpSchema gelu_op() {
  return {.name = "gelu",
          .family = OpFamily::activation,
          .doc = "Gaussian error linear unit (Hendrycks and Gimpel 2016).",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"approximation", "none: by the error function; tanh: as GPT-2 and Gemma do",
                          Attribute(std::string("none"))}},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
