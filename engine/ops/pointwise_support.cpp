#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

bool is_one_row(const Shape& shape, int64_t cols) { return shape == Shape{cols} || shape == Shape{1, cols}; }

Result<Lowered> lower(LowerContext& context, const graph::Node& node, kernels::Elementwise::Args args,
                      Slot b) {
  args.cols = cols_of(context, node.inputs[0]);
  ORRERY_ASSIGN(auto chosen,
                choose<kernels::Elementwise>(context, node, {args.function, args.cols, args.broadcast}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const Slot a, float_operand(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.a = step.data<const float>(a);
    call.b = step.data<const float>(b);
    call.dst = step.data<float>(dst);
    call.tokens = rows.at(step);
    if (call.tokens > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

Types infer_unary(const NodeView& view) {
  ORRERY_TRY(activation(view, 0, "src"));
  return std::vector{*view.inputs[0]};
}

Cost cost_unary(const NodeView& view, const Bindings& bindings, double each) {
  return {each * count(view.outputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower_unary(LowerContext& context, const graph::Node& node, Function function,
                            double factor) {
  kernels::Elementwise::Args args;
  args.function = function;
  args.factor = static_cast<float>(factor);
  return lower(context, node, args, Slot{});
}

Types infer_binary(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix a, activation(view, 0, "a"));
  const ValueType& b = *view.inputs[1];
  if (b.shape == view.inputs[0]->shape && b.dtype == DType::f32) return std::vector{*view.inputs[0]};
  if (is_one_row(b.shape, a.cols)) {
    ORRERY_TRY(b.shape.size() == 1 ? expect_vector(view, 1, "b", a.cols, "a row for all of a")
                                   : Result<void>{});
    if (b.shape.size() == 1 || b.dtype == DType::f32) return std::vector{*view.inputs[0]};
  }
  return mismatch("b", fmt::format("b is {}, but a is {}; b must be equal or one row [{}]", describe(b),
                                   describe(*view.inputs[0]), a.cols));
}

Cost cost_binary(const NodeView& view, const Bindings& bindings) {
  return {count(view.outputs[0]->shape, bindings), bytes(*view.inputs[0], bindings) +
                                                       bytes(*view.inputs[1], bindings) +
                                                       bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower_binary(LowerContext& context, const graph::Node& node, Function function) {
  kernels::Elementwise::Args args;
  args.function = function;
  args.broadcast = context.type(node.inputs[1]).shape != context.type(node.inputs[0]).shape;
  ORRERY_ASSIGN(const Slot b, float_operand(context, node.inputs[1]));
  return lower(context, node, args, b);
}

}  // namespace orrery::ops
