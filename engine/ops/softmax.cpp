// softmax: dst = exp(src - max) / sum over one axis, and logsoftmax: its logarithm
#include "kernels/softmax.h"

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Softmax;

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  ORRERY_TRY(axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  return std::vector{*view.inputs[0]};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {5 * count(view.outputs[0]->shape, bindings), 2 * bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node, bool log) {
  const ValueType& type = context.type(node.inputs[0]);
  const int64_t named = integer(node.attributes, "axis");
  const auto rank = static_cast<int>(type.shape.size());
  const int axis = static_cast<int>(named < 0 ? named + rank : named);
  Softmax::Args args;
  args.dtype = type.dtype;
  args.log = log;
  return lower_along<Softmax>(context, node, {args.dtype, axis == rank - 1, log}, args, axis, axis + 1);
}

/// softmax: y (g - sum(g y)); its logarithm: g - exp(y) sum(g)
void gradient(Gradients& at, bool log) {
  const int64_t axis = integer(at.attributes(), "axis");
  const Term y = at.output(), gradient = at.gradient();
  if (log) return at.give(0, gradient - apply("exp", y) * sum(gradient, {axis}));
  const Term scaled = gradient * y;
  at.give(0, scaled - y * sum(scaled, {axis}));
}

OpSchema softmax_of(std::string name, std::string doc, bool log) {
  return {.name = std::move(name),
          .family = OpFamily::activation,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"axis", "The axis whose numbers sum to 1; negative: from the last",
                          Attribute(int64_t{-1})}},
          .infer = infer,
          .cost = cost,
          .gradient = [log](Gradients& at) { gradient(at, log); },
          .lowering = lowered_to<Softmax>(
              [log](LowerContext& context, const graph::Node& node) { return lower(context, node, log); })};
}

}  // namespace

OpSchema softmax_op() {
  return softmax_of("softmax", "Turns the numbers along an axis into probabilities.", false);
}
OpSchema logsoftmax_op() {
  return softmax_of("logsoftmax", "Turns the numbers along an axis into the logarithms of probabilities.",
                    true);
}

}  // namespace orrery::ops
