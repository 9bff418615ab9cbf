// top_experts: the experts that a router chooses for each token, and what each is worth
#include "engine/ops/expert_gradient_support.h"
#include "engine/ops/lower_support.h"
#include "kernels/moe.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix logits, activation(view, 0, "logits"));
  const int64_t active = integer(*view.attributes, "active");
  if (active < 1 || active > logits.cols)
    return mismatch("logits", fmt::format("active is {}, but logits is {}: it must be 1 to {}", active,
                                          to_string(*view.inputs[0]), logits.cols));
  return std::vector{ValueType{DType::i32, {logits.rows, active}}, f32(logits.rows, active)};
}

/// The softmax as the op of that name counts it, and a comparison for each logit.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return {6 * count(view.inputs[0]->shape, bindings), bytes(*view.inputs[0], bindings) +
                                                          bytes(*view.outputs[0], bindings) +
                                                          bytes(*view.outputs[1], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::TopExperts::Args args;
  args.problem = {cols_of(context, node.inputs[0]), integer(node.attributes, "active"),
                  flag(node.attributes, "normalise")};
  ORRERY_ASSIGN(auto chosen, choose<kernels::TopExperts>(context, node, args.problem));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  const Slot logits = context.slot(node.inputs[0]);
  const Slot experts = context.slot(node.outputs[0]), weights = context.slot(node.outputs[1]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.logits = step.data<const float>(logits);
    call.experts = step.data<int32_t>(experts);
    call.weights = step.data<float>(weights);
    call.tokens = rows.at(step);
    if (call.tokens > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Of the weights; which experts they are moves in steps. A softmax over the chosen logits, or over all, with
/// s its result and g the gradient: s (g - sum of g s).
void gradient(Gradients& at) {
  const Term logits = at.input(0), g = at.gradient(1);
  if (!g) return;
  const Term chosen = is_expert(at.output(0), logits.type().shape[1].constant());
  if (flag(at.attributes(), "normalise")) {
    const Term weights = at.output(1);
    at.give(0, among_all(chosen, weights * (g - sum(g * weights, {1}))));
    return;
  }
  const Term all = at.apply("softmax", {logits}), of_all = among_all(chosen, g);
  if (of_all) at.give(0, all * (of_all - sum(of_all * all, {1})));
}

}  // namespace

OpSchema top_experts_op() {
  return {.name = "top_experts",
          .family = OpFamily::activation,
          .doc = "Chooses for each token the experts that its router finds likeliest.",
          .inputs = {{"logits"}},
          .outputs = {"experts", "weights"},
          .attributes = {{"active", "How many experts each token is given to", {}, AttributeType::integer},
                         {"normalise",
                          "The weights of a token's experts add up to 1: a softmax over the chosen alone",
                          Attribute(true)}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::TopExperts>(lower)};
}

}  // namespace orrery::ops
