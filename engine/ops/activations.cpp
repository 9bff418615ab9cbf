// The activation functions without attributes: dst = activation(src) (kernels/activation.h)
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

using kernels::Activation;

OpSchema activation_op(Activation activation, std::string doc) {
  const kernels::ActivationInfo& info = kernels::kActivations[static_cast<size_t>(activation)];
  return {.name = std::string(info.name),
          .family = OpFamily::activation,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_unary,
          .cost = [each = info.flops](const NodeView& view,
                                      const Bindings& bindings) { return cost_unary(view, bindings, each); },
          .lowering = lowered_to<kernels::Elementwise>([=](LowerContext& context, const graph::Node& node) {
            return lower_unary(context, node, kernels::function_of(activation));
          })};
}

}  // namespace

OpSchema silu_op() {
  return activation_op(Activation::silu, "Sigmoid-weighted linear unit (Elfwing et al. 2018).");
}
OpSchema relu_op() { return activation_op(Activation::relu, "Zero where negative."); }
OpSchema tanh_op() { return activation_op(Activation::tanh, "Hyperbolic tangent."); }

}  // namespace orrery::ops
