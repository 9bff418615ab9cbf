// dequantise: dst = the numbers that a stored matrix stands for, for ops that take no blocks
#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"
#include "kernels/embedding.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Stored weight, stored_matrix(view, 0, "weight"));
  return std::vector{ValueType{DType::f32, {weight.rows, weight.cols}}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

/// All rows in their order.
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& weight = context.type(node.inputs[0]);
  kernels::Embedding::Args args;
  args.tokens = args.vocabulary = weight.shape.front().constant();
  args.cols = weight.shape.back().constant();
  args.dtype = weight.dtype;
  ORRERY_ASSIGN(auto chosen, choose<kernels::Embedding>(context, node, {args.dtype, args.cols}));
  ORRERY_ASSIGN(args.table, stored_weight(context, node, node.inputs[0], nullptr));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.dst = step.data<float>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema dequantise_op() {
  return {.name = "dequantise",
          .family = OpFamily::data_movement,
          .doc = "The numbers that a stored matrix stands for, as f32.",
          .inputs = {{.name = "weight", .stored = true}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient = [](Gradients& at) { at.give(0, at.gradient()); },
          .lowering = lowered_to<kernels::Embedding>(lower)};
}

}  // namespace orrery::ops
