#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

/// a is f32[rows, cols] and so is b, or it is one row: f32, or a weight that is converted once.
bool combines_rows(const LowerContext& context, const graph::Node& node) {
  const ValueType &a = context.type(node.inputs[0]), &b = context.type(node.inputs[1]);
  if (a.dtype != DType::f32 || a.shape.size() != 2 || !a.shape[1].is_constant() ||
      context.type(node.outputs[0]).shape != a.shape)
    return false;
  const int64_t cols = a.shape[1].constant();
  if (b.shape == Shape{cols})
    return b.dtype == DType::f32 ||
           (is_float(b.dtype) && context.graph().value(node.inputs[1]).kind == graph::ValueKind::weight);
  return b == a || b == ValueType{DType::f32, {1, cols}};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node, kernels::Elementwise::Args args,
                      Slot b) {
  args.cols = cols_of(context, node.inputs[0]);
  ORRERY_ASSIGN(auto chosen,
                choose<kernels::Elementwise>(context, node, {args.function, args.cols, args.broadcast}));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const Slot a, float_operand(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.a = step.data<const float>(a);
    call.b = step.data<const float>(b);
    call.dst = step.data<float>(dst);
    call.tokens = shape.product(step, 0, shape.rank - 1);
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

Types infer_activation(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  return std::vector{*view.inputs[0]};
}

Result<Lowered> lower_activation(LowerContext& context, const graph::Node& node,
                                 std::optional<Function> function, kernels::Map::Function otherwise) {
  const ValueType& type = context.type(node.inputs[0]);
  const bool has_rows = !type.shape.empty() && type.shape.back().is_constant();
  if (type.dtype == DType::f32 && has_rows && function) return lower_unary(context, node, *function);
  return lower_map(context, node, otherwise);
}

OpSchema binary_op(std::string name, Function function, kernels::Combine::Function otherwise,
                   std::string doc) {
  OpSchema op = combine_op(std::move(name), otherwise, std::move(doc));
  op.lowering = lowered_to<kernels::Elementwise, kernels::Combine>(
      [=](LowerContext& context, const graph::Node& node) -> Result<Lowered> {
        if (!combines_rows(context, node)) return CombineOp{otherwise}.lower(context, node);
        kernels::Elementwise::Args args;
        args.function = function;
        args.broadcast = context.type(node.inputs[1]).shape != context.type(node.inputs[0]).shape;
        ORRERY_ASSIGN(const Slot b, float_operand(context, node.inputs[1]));
        return lower(context, node, args, b);
      });
  return op;
}

}  // namespace orrery::ops
