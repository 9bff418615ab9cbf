// gelu: dst = src * Phi(src), exact (erf), by the tanh approximation, or quick: src * sigmoid(1.702 src)
#include "engine/ops/activation_gradient_support.h"
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

using kernels::Map;

/// none: by the error function.
Map::Function map_of(const Attributes& attributes) {
  const std::string_view approximation = text(attributes, "approximation");
  return approximation == "tanh"    ? Map::Function::gelu_tanh
         : approximation == "quick" ? Map::Function::gelu_quick
                                    : Map::Function::gelu_erf;
}

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_choice(*view.attributes, "approximation", {"none", "tanh", "quick"}));
  return infer_activation(view);
}

/// erf: x/sqrt2, erf, +1, x*, /2.  tanh: x^3 (2), *c, +x, *c, tanh, +1, x*, /2.  quick: *c, exp, +1, x/.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return cost_unary(view, bindings, kernels::info_of(map_of(*view.attributes)).flops);
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const Map::Function map = map_of(node.attributes);
  std::optional<Function> rows;
  if (map == Map::Function::gelu_erf) rows = Function::gelu_erf;
  if (map == Map::Function::gelu_tanh) rows = Function::gelu_tanh;
  return lower_activation(context, node, rows, map);
}

void gradient(Gradients& at) {
  const Term x = at.input(0);
  const Map::Function map = map_of(at.attributes());
  if (map == Map::Function::gelu_quick) {  // x s with s = sigmoid(k x): s + k x s (1 - s)
    const double k = 1.702;
    const Term s = apply("sigmoid", x * k);
    return at.give(0, at.gradient() * (s * (x * (1 - s) * k + 1)));
  }
  const bool tanh = map == Map::Function::gelu_tanh;
  at.give(0, activation_gradient(tanh ? kernels::Activation::gelu_tanh : kernels::Activation::gelu_erf,
                                 at.gradient(), x));
}

}  // namespace

OpSchema gelu_op() {
  return {.name = "gelu",
          .family = OpFamily::activation,
          .doc = "Gaussian error linear unit (Hendrycks and Gimpel 2016).",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"approximation",
                          "none: by the error function; tanh: as GPT-2 and Gemma do; quick: by the sigmoid "
                          "of 1.702 x, as CLIP does",
                          Attribute(std::string("none"))}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Elementwise, Map>(lower)};
}

}  // namespace orrery::ops
