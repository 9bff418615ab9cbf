// pad: more elements on the sides of a value (kernels/pad.h)
#include "kernels/pad.h"

#include <algorithm>
#include <cstring>

#include "engine/ops/constant.h"
#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Pad;

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  const std::vector<int64_t> paddings = list(*view.attributes, "paddings");
  if (src.shape.empty() || paddings.size() != 2 * src.shape.size())
    return mismatch(
        "src", fmt::format("paddings has {} numbers, but src is {}; each dim needs one before it and one "
                           "after it",
                           paddings.size(), to_string(src)));
  constexpr int64_t kMost = int64_t{1} << 40;
  if (std::ranges::any_of(paddings, [](int64_t each) { return each < 0 || each > kMost; }))
    return bad_attribute(fmt::format("paddings is [{}]; none may be negative: slice takes elements away",
                                     fmt::join(paddings, ", ")));
  ORRERY_TRY(expect_choice(*view.attributes, "mode", {"constant", "reflect", "edge", "wrap"}));
  ORRERY_TRY(check_constant(*view.attributes, {src.dtype, {}}));
  ValueType dst = src;
  for (size_t d = 0; d < dst.shape.size(); ++d)
    dst.shape[d] = dst.shape[d] + (paddings[2 * d] + paddings[2 * d + 1]);
  return std::vector{std::move(dst)};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  const auto mode = std::ranges::find(kernels::kPadNames, text(node.attributes, "mode")) - kernels::kPadNames;
  ORRERY_ASSIGN(const StepShape from, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const StepShape to, step_shape(context, node, node.outputs[0]));
  Pad::Args args;
  args.problem = {static_cast<Pad::Mode>(mode), type.dtype, from.rank};
  const std::vector<int64_t> paddings = list(node.attributes, "paddings");
  for (size_t d = 0; d < type.shape.size(); ++d) args.before[d] = paddings[2 * d];
  ORRERY_ASSIGN(const std::vector<std::byte> value, constant_bytes(node, {type.dtype, {}}));
  std::memcpy(&args.value, value.data(), std::min(value.size(), sizeof(args.value)));
  ORRERY_ASSIGN(auto chosen, choose<Pad>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    from.at(step, call.sizes);
    to.at(step, call.padded);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (to.product(step, 0, to.rank) > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// What lies where src lay. The other modes repeat elements of src.
void gradient(Gradients& at) {
  if (const std::string mode(text(at.attributes(), "mode")); mode != "constant")
    return at.refuse(fmt::format("elements of src stand at several places in mode {}", mode),
                     "pad with a constant");
  const std::vector<int64_t> paddings = list(at.attributes(), "paddings");
  const Shape& shape = at.input(0).type().shape;
  std::vector<int64_t> axes, starts, stops;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (paddings[2 * d] == 0 && paddings[2 * d + 1] == 0) continue;
    if (!shape[d].is_constant())
      return at.refuse(fmt::format("dim {} differs from step to step, and is padded", d),
                       "pad dims of a fixed size");
    axes.push_back(static_cast<int64_t>(d));
    starts.push_back(paddings[2 * d]);
    stops.push_back(paddings[2 * d] + shape[d].constant());
  }
  if (axes.empty()) return at.give(0, at.gradient());
  at.give(0, apply("slice", at.gradient(),
                   {{"axes", std::move(axes)}, {"starts", std::move(starts)}, {"stops", std::move(stops)}}));
}

}  // namespace

OpSchema pad_op() {
  return {.name = "pad",
          .family = OpFamily::data_movement,
          .doc = "More elements on the sides of a value.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes =
              {{"paddings",
                "How many before the first and after the last of each dim, dim by dim",
                {},
                AttributeType::list},
               {"mode",
                "What they are: constant (the value), edge (the nearest element), reflect (mirrored at the "
                "outermost elements) or wrap (those of the other side)",
                Attribute(std::string("constant"))},
               {"value", "What constant puts there", Attribute(0.0)}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<Pad>(lower)};
}

}  // namespace orrery::ops
