// hann_window: a raised cosine (kernels/hann.h)
#include "kernels/hann.h"

#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Hann;

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_positive(*view.attributes, "window_length"));
  const auto dtype = parse_dtype(text(*view.attributes, "dtype"));
  if (!dtype || !is_float(*dtype))
    return bad_attribute(
        fmt::format("dtype is \"{}\"; it must be f32, f16 or bf16", text(*view.attributes, "dtype")));
  return std::vector{ValueType{*dtype, {integer(*view.attributes, "window_length")}}};
}

/// A sine and a product an element.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return {2 * count(view.outputs[0]->shape, bindings), bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  Hann::Args args;
  args.dtype = context.type(node.outputs[0]).dtype;
  args.periodic = flag(node.attributes, "periodic");
  args.count = integer(node.attributes, "window_length");
  ORRERY_ASSIGN(auto chosen, choose<Hann>(context, node, {args.dtype}));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.dst = step.data<void>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema hann_window_op() {
  return {.name = "hann_window",
          .family = OpFamily::elementwise,
          .doc = "A raised cosine, by which pieces of a signal are weighted.",
          .inputs = {},
          .outputs = {"dst"},
          .attributes = {{"window_length", "How many elements", {}, AttributeType::integer},
                         {"periodic", "Whether it is one period; else it ends with 0 as it begins",
                          Attribute(true)},
                         {"dtype", "f32, f16 or bf16", Attribute(std::string("f32"))}},
          .infer = infer,
          .cost = cost,
          .stops_gradient = true,
          .lowering = lowered_to<Hann>(lower)};
}

}  // namespace orrery::ops
