// all_reduce: dst = part_0 + part_1 + ... of several devices, on the node's own. Added in the order of the
// parts, so that the sum does not depend on which device was ready first.
#include "engine/ops/collective_support.h"
#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"
#include "kernels/elementwise.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const std::vector<Matrix> parts, collective_parts(view));
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].cols != parts[0].cols)
      return mismatch("parts", fmt::format("part {} is {}, and the first is {}: only equal shapes are added",
                                           i, to_string(*view.inputs[i]), to_string(*view.inputs[0])));
  return std::vector{*view.inputs[0]};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const double each = count(view.outputs[0]->shape, bindings);
  return {each * static_cast<double>(view.inputs.size() - 1), collective_bytes(view, bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  using kernels::Elementwise;
  Elementwise::Args args;
  args.function = Elementwise::Function::add;
  args.cols = cols_of(context, node.outputs[0]);
  ORRERY_ASSIGN(auto chosen, choose<Elementwise>(context, node, {args.function, args.cols, false}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.outputs[0]));
  std::vector<Slot> parts;
  for (const ValueId input : node.inputs) {
    ORRERY_ASSIGN(parts.emplace_back(), float_operand(context, input));
  }
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.tokens = rows.at(step);
    call.dst = step.data<float>(dst);
    call.a = step.data<const float>(parts[0]);
    for (size_t i = 1; i < parts.size() && call.tokens > 0; ++i) {
      call.b = step.data<const float>(parts[i]);
      run(call, step.launch());
      call.a = call.dst;
    }
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema all_reduce_op() {
  return {.name = "all_reduce",
          .family = OpFamily::data_movement,
          .doc = "Adds parts that several devices computed, in their order; the sum lies where it runs.",
          .inputs = {{.name = "parts", .variadic = true}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient =
              [](Gradients& at) {
                for (size_t i = 0; i < at.inputs(); ++i) at.give(i, at.gradient());
              },
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
