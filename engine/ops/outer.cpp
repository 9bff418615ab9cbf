// outer: dst[i, j] = a[i] * b[j]
#include "engine/ops/combine_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

using kernels::Combine;

Types infer(const NodeView& view) {
  for (const size_t side : {0U, 1U}) {
    const char* name = side == 0 ? "a" : "b";
    ORRERY_TRY(expect_elements(view, side, name));
    if (view.inputs[side]->shape.size() != 1)
      return mismatch(name,
                      fmt::format("{} is {}; it must be a vector", name, to_string(*view.inputs[side])));
  }
  ORRERY_ASSIGN(const DType dtype, promote(view, 0, "a", 1, "b"));
  if (dtype == DType::boolean) return mismatch("a", "a and b are bools, which are not numbers: cast them");
  return std::vector{ValueType{dtype, {view.inputs[0]->shape[0], view.inputs[1]->shape[0]}}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {count(view.outputs[0]->shape, bindings), bytes(*view.inputs[0], bindings) +
                                                       bytes(*view.inputs[1], bindings) +
                                                       bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  Combine::Args args;
  args.problem = {Combine::Function::mul, context.type(node.inputs[0]).dtype,
                  context.type(node.inputs[1]).dtype};
  args.problem.common = args.problem.dst = context.type(node.outputs[0]).dtype;
  args.problem.rank = args.walk.rank = 2;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.outputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<Combine>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot a, elements_of(context, node.inputs[0]));
  ORRERY_ASSIGN(const Slot b, elements_of(context, node.inputs[1]));
  const Slot dst = context.slot(node.outputs[0]);
  args.walk.strides[0][0] = 1;  // a goes down, b across
  args.walk.strides[1][1] = 1;
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    shape.at(step, call.walk.sizes);
    kernels::pack_strides(2, call.walk.sizes, call.walk.strides[3]);
    call.a = step.address(a);
    call.b = step.address(b);
    call.dst = step.data<void>(dst);
    if (call.walk.elements() > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

void gradient(Gradients& at) {
  const Term g = at.gradient();
  if (at.wants(0)) at.give(0, sum(g * at.input(1), {1}, false));
  if (at.wants(1)) at.give(1, sum(g * unsqueeze(at.input(0), 1), {0}, false));
}

}  // namespace

OpSchema outer_op() {
  return {.name = "outer",
          .family = OpFamily::elementwise,
          .doc = "The products of each number of a vector with each of another.",
          .inputs = {{"a"}, {"b"}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<Combine>(lower)};
}

}  // namespace orrery::ops
