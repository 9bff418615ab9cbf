// softmax: dst = exp(src - max) / sum over one axis
#include "kernels/softmax.h"

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

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  Softmax::Args args;
  args.dtype = context.type(node.inputs[0]).dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  const int64_t named = integer(node.attributes, "axis");
  const int axis = static_cast<int>(named < 0 ? named + shape.rank : named);
  ORRERY_ASSIGN(auto chosen, choose<Softmax>(context, node, {args.dtype, axis == shape.rank - 1}));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.outer = shape.product(step, 0, axis);
    call.count = shape.product(step, axis, axis + 1);
    call.inner = shape.product(step, axis + 1, shape.rank);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.outer > 0 && call.count > 0 && call.inner > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema softmax_op() {
  return {.name = "softmax",
          .family = OpFamily::activation,
          .doc = "Turns the numbers along an axis into probabilities.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"axis", "The axis whose numbers sum to 1; negative: from the last",
                          Attribute(int64_t{-1})}},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<Softmax>(lower)};
}

}  // namespace orrery::ops
