#include "engine/ops/combine_support.h"

#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

using kernels::Combine;

/// What a closure carries of an operand.
struct Operand {
  Slot slot;
  StepShape shape;
};

Result<Operand> operand_of(LowerContext& context, const graph::Node& node, ValueId value) {
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, value));
  ORRERY_ASSIGN(const Slot slot, elements_of(context, value));
  return Operand{slot, shape};
}

/// What depends on its operands in steps, or is no number: where one of them moves a little it stays.
bool is_stepped(Combine::Function function) {
  return compares(function) || kernels::is_logical(function) || kernels::is_bitwise(function) ||
         function == Combine::Function::floor_div;
}

/// dst = a^b: b a^(b-1), which is 0 where b is, and a^b log(a), which is 0 where a is.
void power_gradient(Gradients& at, const Term& a, const Term& b) {
  const Term g = at.gradient();
  if (at.wants(0)) {
    const Term by_a = b * at.apply("pow", {a, b + -1});
    at.give(0, g * where(b == 0, at.number(0, by_a.type().dtype), by_a));
  }
  if (!at.wants(1)) return;
  const Term by_b = at.output() * apply("log", a);
  at.give(1, g * where(a == 0, at.number(0, by_b.type().dtype), by_b));
}

/// The gradient belongs to the one that is taken, to a of two that are equal.
void chosen_gradient(Gradients& at, const Term& takes_a) {
  const Term g = at.gradient(), zero = at.number(0, g.type().dtype);
  if (at.wants(0)) at.give(0, where(takes_a, g, zero));
  if (at.wants(1)) at.give(1, where(takes_a, zero, g));
}

void gradient_of_where(Gradients& at) {
  const Term g = at.gradient(), zero = at.number(0, g.type().dtype);
  if (at.wants(1)) at.give(1, where(at.input(0), g, zero));
  if (at.wants(2)) at.give(2, where(at.input(0), zero, g));
}

void combined_gradient(Combine::Function function, Gradients& at) {
  if (function == Combine::Function::where) return gradient_of_where(at);
  const Term g = at.gradient(), a = at.input(0), b = at.input(1);
  switch (function) {
    case Combine::Function::add:
      at.give(0, g);
      return at.give(1, g);
    case Combine::Function::sub:
      at.give(0, g);
      return at.give(1, at.wants(1) ? -g : Term());
    case Combine::Function::mul:
      if (at.wants(0)) at.give(0, g * b);
      return at.give(1, at.wants(1) ? g * a : Term());
    case Combine::Function::div:
      if (at.wants(0)) at.give(0, g / b);
      return at.give(1, at.wants(1) ? -(g * at.output() / b) : Term());
    case Combine::Function::mod:  // a - b floor(a / b)
      at.give(0, g);
      return at.give(1, at.wants(1) ? -(g * at.apply("floor_div", {a, b})) : Term());
    case Combine::Function::pow:
      return power_gradient(at, a, b);
    case Combine::Function::maximum:
      return chosen_gradient(at, at.apply("greater_equal", {a, b}));
    case Combine::Function::minimum:
      return chosen_gradient(at, at.apply("less_equal", {a, b}));
    default:
      return at.refuse("no rule says how it moves with its operands");
  }
}

}  // namespace

/// Quotients of whole numbers are f32.
DType CombineOp::common(DType promoted) const {
  return function == Combine::Function::div && !is_float(promoted) ? DType::f32 : promoted;
}
DType CombineOp::written(DType promoted) const {
  return compares(function) ? DType::boolean : common(promoted);
}

Types CombineOp::infer(const NodeView& view) const {
  if (chooses()) ORRERY_TRY(expect_elements(view, 0, "condition"));
  ORRERY_TRY(expect_elements(view, a(), "a"));
  ORRERY_TRY(expect_elements(view, b(), "b"));
  ORRERY_ASSIGN(const DType dtype, promote(view, a(), "a", b(), "b"));
  const auto refused = [&](std::string_view why) {
    return mismatch("a", fmt::format("a is {} and b is {}; {}", to_string(*view.inputs[a()]),
                                     to_string(*view.inputs[b()]), why));
  };
  if (kernels::is_logical(function) && dtype != DType::boolean)
    return refused("it takes bools: compare them, or cast them");
  if (kernels::is_bitwise(function) && is_float(dtype)) return refused("floats have no bits to combine");
  if (dtype == DType::boolean && function < Combine::Function::equal)
    return refused("bools are no numbers: cast them");
  ORRERY_ASSIGN(Shape shape, broadcast(view, a(), "a", b(), "b"));
  if (!chooses()) return std::vector{ValueType{written(dtype), std::move(shape)}};
  if (view.inputs[0]->dtype != DType::boolean)
    return mismatch("condition",
                    fmt::format("condition is {}; it must be of bool", to_string(*view.inputs[0])));
  const ValueType chosen{dtype, std::move(shape)};
  NodeView wide = view;
  wide.inputs[1] = &chosen;
  ORRERY_ASSIGN(Shape all, broadcast(wide, 1, "the choice", 0, "condition"));
  return std::vector{ValueType{dtype, std::move(all)}};
}

Cost CombineOp::cost(const NodeView& view, const Bindings& bindings) const {
  Cost cost{count(view.outputs[0]->shape, bindings), bytes(*view.outputs[0], bindings)};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(*input, bindings);
  return cost;
}

Result<Lowered> CombineOp::lower(LowerContext& context, const graph::Node& node) const {
  Combine::Args args;
  args.problem = {function, context.type(node.inputs[a()]).dtype, context.type(node.inputs[b()]).dtype};
  args.problem.common = common(promoted(args.problem.a, args.problem.b).value_or(DType::f32));
  args.problem.dst = context.type(node.outputs[0]).dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.outputs[0]));
  args.problem.rank = args.walk.rank = shape.rank;
  ORRERY_ASSIGN(auto chosen, choose<Combine>(context, node, args.problem));
  ORRERY_ASSIGN(const Operand first, operand_of(context, node, node.inputs[a()]));
  ORRERY_ASSIGN(const Operand second, operand_of(context, node, node.inputs[b()]));
  Operand condition;
  if (chooses()) {
    ORRERY_ASSIGN(condition, operand_of(context, node, node.inputs[0]));
  }
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    auto& walk = call.walk;
    shape.at(step, walk.sizes);
    first.shape.broadcast_strides(step, walk.rank, walk.strides[0]);
    second.shape.broadcast_strides(step, walk.rank, walk.strides[1]);
    condition.shape.broadcast_strides(step, walk.rank, walk.strides[2]);
    kernels::pack_strides(walk.rank, walk.sizes, walk.strides[3]);
    call.a = step.address(first.slot);
    call.b = step.address(second.slot);
    call.condition = step.data<const uint8_t>(condition.slot);
    call.dst = step.data<void>(dst);
    if (walk.elements() > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

OpSchema combine_op(std::string name, Combine::Function function, std::string doc) {
  const CombineOp op{function};
  std::vector<InputSpec> inputs = {{"a"}, {"b"}};
  if (op.chooses()) inputs.insert(inputs.begin(), {"condition"});
  OpSchema schema{
      .name = std::move(name),
      .family = OpFamily::elementwise,
      .doc = std::move(doc),
      .inputs = std::move(inputs),
      .outputs = {"dst"},
      .infer = [op](const NodeView& view) { return op.infer(view); },
      .cost = [op](const NodeView& view, const Bindings& bindings) { return op.cost(view, bindings); },
      .stops_gradient = is_stepped(function),
      .lowering = lowered_to<Combine>(
          [op](LowerContext& context, const graph::Node& node) { return op.lower(context, node); })};
  if (!schema.stops_gradient)
    schema.gradient = [function](Gradients& at) { combined_gradient(function, at); };
  return schema;
}

}  // namespace orrery::ops
