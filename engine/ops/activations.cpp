// The activation functions without attributes: dst = activation(src) (kernels/activation.h)
#include "engine/ops/activation_gradient_support.h"
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

using kernels::Activation;

OpSchema activation_op(Activation activation, kernels::Map::Function map, std::string doc) {
  const kernels::ActivationInfo& info = kernels::kActivations[static_cast<size_t>(activation)];
  return {.name = std::string(info.name),
          .family = OpFamily::activation,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer_activation,
          .cost = [each = info.flops](const NodeView& view,
                                      const Bindings& bindings) { return cost_unary(view, bindings, each); },
          .gradient =
              [=](Gradients& at) { at.give(0, activation_gradient(activation, at.gradient(), at.input(0))); },
          .lowering = lowered_to<kernels::Elementwise, kernels::Map>(
              [=](LowerContext& context, const graph::Node& node) {
                return lower_activation(context, node, kernels::function_of(activation), map);
              })};
}

}  // namespace

OpSchema silu_op() {
  return activation_op(Activation::silu, kernels::Map::Function::silu,
                       "Sigmoid-weighted linear unit (Elfwing et al. 2018).");
}
OpSchema relu_op() {
  return activation_op(Activation::relu, kernels::Map::Function::relu, "Zero where negative.");
}
OpSchema tanh_op() {
  return activation_op(Activation::tanh, kernels::Map::Function::tanh, "Hyperbolic tangent.");
}

}  // namespace orrery::ops
