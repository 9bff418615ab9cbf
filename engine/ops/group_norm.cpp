// group_norm: dst = (src - mean) * weight / sqrt(var + epsilon) + bias, over groups of channels
// (kernels/group_norm.h)
#include "kernels/group_norm.h"

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"
#include "engine/ops/vector_support.h"

namespace orrery::ops {
namespace {

using kernels::GroupNorm;

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.shape.size() < 2 || !src.shape[1].is_constant())
    return mismatch(
        "src", fmt::format("src is {}; its second dim are the channels, of which there is a fixed number",
                           to_string(src)));
  const int64_t channels = src.shape[1].constant(), groups = integer(*view.attributes, "num_groups");
  if (groups < 1 || channels % groups != 0)
    return bad_attribute(
        fmt::format("num_groups is {}; it must divide the {} channels of src", groups, channels));
  const std::string reader = "a norm of src " + to_string(src);
  ORRERY_TRY(expect_vector(view, 1, "weight", channels, reader));
  ORRERY_TRY(expect_vector(view, 2, "bias", channels, reader));
  ORRERY_TRY(expect_not_negative(*view.attributes, "epsilon"));
  return std::vector{src};
}

/// Per element: sum, difference, square, sum, difference and two multiplications, bias.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double each = view.inputs[2] != nullptr ? 8 : 7;
  Cost cost{each * count(view.outputs[0]->shape, bindings), bytes(*view.outputs[0], bindings)};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  return cost;
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  GroupNorm::Args args;
  args.dtype = context.type(node.inputs[0]).dtype;
  args.groups = integer(node.attributes, "num_groups");
  args.eps = static_cast<float>(real(node.attributes, "epsilon"));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<GroupNorm>(context, node, {args.dtype}));
  ORRERY_ASSIGN(const VectorOperand weight, vector_operand(context, node, node.inputs[1], chosen.lowered));
  ORRERY_ASSIGN(const VectorOperand bias, vector_operand(context, node, node.inputs[2], chosen.lowered));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.batch = shape.product(step, 0, 1);
    call.channels = shape.product(step, 1, 2);
    call.inner = shape.product(step, 2, shape.rank);
    if (call.batch == 0 || call.inner == 0) return;
    call.src = step.address(src);
    call.weight = weight.read(step);
    call.bias = bias.read(step);
    call.dst = step.data<void>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// A group of one image is a row that is normed: by the backward op of such rows.
void gradient(Gradients& at) {
  const Term src = at.input(0), g = at.gradient();
  const Shape shape = src.type().shape;
  const int64_t groups = integer(at.attributes(), "num_groups");
  int64_t inner = 1;
  for (size_t d = 2; d < shape.size(); ++d) {
    if (!shape[d].is_constant())
      return at.refuse(fmt::format("dim {} of src differs from step to step", d),
                       "norm images of a fixed size");
    inner *= shape[d].constant();
  }
  const int64_t channels = shape[1].constant(), cols = channels / groups * inner;
  const auto grouped = [&](const Term& image) { return reshaped(image, {shape[0], groups, cols}); };
  const auto of_channels = [&](const Term& image) {  // summed over all else
    return sum(sum(reshaped(image, {shape[0], channels, inner}), {2}, false), {0}, false);
  };
  const auto each = [&](const Term& weight) { return reshaped(weight, {Dim(1), Dim(channels), Dim(1)}); };
  const Term ones = at.constant({DType::f32, {cols}}, {}, 1);
  const Attributes norm{{"epsilon", real(at.attributes(), "epsilon")}, {"rms", false}};
  const Term weight = at.input(1);
  if (at.wants(0)) {
    const Term by_norm =
        weight ? grouped(reshaped(g, {shape[0], channels, inner}) * each(weight)) : grouped(g);
    const std::vector<Term> made =
        at.apply_all("dropout_add_layer_norm_backward", {by_norm, Term(), grouped(src), Term(), ones}, norm);
    if (made.empty()) return;
    at.give(0, reshaped(made[1], shape));
  }
  if (at.wants(1))
    at.give(1,
            of_channels(
                g * reshaped(at.apply("dropout_add_layer_norm", {grouped(src), Term(), ones}, norm), shape)));
  if (at.wants(2)) at.give(2, of_channels(g));
}

}  // namespace

OpSchema group_norm_op() {
  return {.name = "group_norm",
          .family = OpFamily::norm,
          .doc = "Normalisation over groups of channels (Wu and He 2018).",
          .inputs = {{"src"}, {"weight", true}, {"bias", true}},
          .outputs = {"dst"},
          .attributes = {{"num_groups",
                          "How many groups the channels, the second dim, form",
                          {},
                          AttributeType::integer},
                         {"epsilon", "Added to the variance before the root", Attribute(1e-5)}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<GroupNorm, kernels::Copy>(lower)};
}

}  // namespace orrery::ops
