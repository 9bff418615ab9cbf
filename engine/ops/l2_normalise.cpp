// l2_normalise: dst = src / sqrt(sum(src^2)), of each row: the last dim
#include "engine/ops/gradients.h"
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.dtype != DType::f32 || src.shape.empty() || !src.shape.back().is_constant())
    return mismatch("src",
                    fmt::format("src is {}; it must be f32 with rows of a fixed size", to_string(src)));
  return std::vector{src};
}

Cost cost(const NodeView& view, const Bindings& bindings) { return cost_unary(view, bindings, 3); }
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_unary(context, node, Function::l2_normalise);
}

/// (g - y sum(g y)) / |x|
void gradient(Gradients& at) {
  const Term x = at.input(0), y = at.output(), g = at.gradient();
  at.give(0, (g - y * sum(g * y, {1})) * apply("rsqrt", sum(x * x, {1})));
}

}  // namespace

OpSchema l2_normalise_op() {
  return {.name = "l2_normalise",
          .family = OpFamily::norm,
          .doc = "Scales each row to unit length.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
