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

/// Of g along one dim, of which `size` elements are src's, what comes back to them: each has that of every
/// place that it was put in.
Term unpadded(const Term& g, Pad::Mode mode, size_t d, int64_t before, int64_t size) {
  if (!g) return g;
  const auto axis = static_cast<int64_t>(d);
  const auto part = [&](int64_t first) {
    return apply(
        "slice", g,
        {{"axes", std::vector{axis}}, {"starts", std::vector{first}}, {"stops", std::vector{first + size}}});
  };
  if (mode == Pad::Mode::constant) return part(before);
  const Shape& shape = g.type().shape;
  std::vector<double> elements;
  for (int64_t place = 0; place < shape[d].constant(); ++place)
    elements.push_back(static_cast<double>(kernels::padded_from(mode, place - before, size)));
  Shape line(shape.size(), Dim(1));
  line[d] = shape[d];
  const Term of_line = g.rule().constant({DType::i64, std::move(line)}, std::move(elements));
  return g.rule().apply("scatter_add", {zeros_like(part(0)), g, repeated_like(of_line, g)}, {{"axis", axis}});
}

void gradient(Gradients& at) {
  const auto mode = static_cast<Pad::Mode>(
      std::ranges::find(kernels::kPadNames, text(at.attributes(), "mode")) - kernels::kPadNames);
  const std::vector<int64_t> paddings = list(at.attributes(), "paddings");
  const Shape shape = at.input(0).type().shape;
  Term g = at.gradient();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (paddings[2 * d] == 0 && paddings[2 * d + 1] == 0) continue;
    if (!shape[d].is_constant())
      return at.refuse(fmt::format("dim {} differs from step to step, and is padded", d),
                       "pad dims of a fixed size");
    g = unpadded(g, mode, d, paddings[2 * d], shape[d].constant());
  }
  at.give(0, g);
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
