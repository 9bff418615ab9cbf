// dequantise: dst = the numbers that a stored matrix, or a stack of them, stands for, for ops that take no
// blocks
#include <algorithm>

#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"
#include "kernels/embedding.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  const ValueType& weight = *view.inputs[0];
  const bool fixed = std::ranges::all_of(weight.shape, [](const Dim& dim) { return dim.is_constant(); });
  if (weight.shape.size() < 2 || !fixed || is_integer(weight.dtype) || weight.dtype == DType::boolean)
    return mismatch("weight",
                    fmt::format("weight is {}; it must be a matrix of weights [rows, cols], or a stack "
                                "of them",
                                to_string(weight)));
  return std::vector{ValueType{DType::f32, weight.shape}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

/// All rows in their order.
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& weight = context.type(node.inputs[0]);
  kernels::Embedding::Args args;
  args.cols = weight.shape.back().constant();
  args.tokens = args.vocabulary = element_count(weight.shape, {}).value_or(0) / args.cols;
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
          .doc = "The numbers that a stored matrix, or a stack of them, stands for, as f32.",
          .inputs = {{.name = "weight", .stored = true}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient = [](Gradients& at) { at.give(0, at.gradient()); },
          .lowering = lowered_to<kernels::Embedding>(lower)};
}

}  // namespace orrery::ops
