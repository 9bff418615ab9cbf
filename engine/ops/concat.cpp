// concat: the parts one after another along an axis
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

using kernels::Copy;

Types infer(const NodeView& view) {
  if (view.inputs.empty()) return bad_attribute("concat needs at least one part");
  for (size_t i = 0; i < view.inputs.size(); ++i) ORRERY_TRY(expect_elements(view, i, "parts"));
  ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "parts", integer(*view.attributes, "axis")));
  ValueType all = *view.inputs[0];
  for (size_t i = 1; i < view.inputs.size(); ++i) {
    const ValueType& part = *view.inputs[i];
    ValueType alike = part;
    if (alike.shape.size() == all.shape.size()) alike.shape[axis] = all.shape[axis];
    if (alike != all)
      return mismatch("parts", fmt::format("part {} is {}, but part 0 is {}; only axis {} may differ", i,
                                           to_string(part), to_string(*view.inputs[0]), axis));
    all.shape[axis] = all.shape[axis] + part.shape[axis];
  }
  return std::vector{std::move(all)};
}

struct Part {
  Slot slot;
  RowCount size;  // along the axis
};

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_concat(context, node, integer(node.attributes, "axis"));
}

/// Each part has its own range of the axis.
void gradient(Gradients& at) {
  const Shape& shape = at.output().type().shape;
  const size_t axis = place_of(integer(at.attributes(), "axis"), shape.size());
  if (!shape[axis].is_constant())
    return at.refuse(fmt::format("axis {} of {} differs from step to step, and slices have fixed bounds",
                                 axis, to_string(at.output().type())));
  int64_t begin = 0;
  for (size_t i = 0; i < at.inputs(); ++i) {
    const int64_t end = begin + at.input(i).type().shape[axis].constant();
    if (at.wants(i))
      at.give(i, apply("slice", at.gradient(),
                       {{"axes", std::vector{static_cast<int64_t>(axis)}},
                        {"starts", std::vector{begin}},
                        {"stops", std::vector{end}}}));
    begin = end;
  }
}

}  // namespace

Result<Lowered> lower_concat(LowerContext& context, const graph::Node& node, int64_t axis) {
  Copy::Args args;
  args.from = args.to = context.type(node.outputs[0]).dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.outputs[0]));
  args.walk.rank = shape.rank;
  ORRERY_ASSIGN(auto chosen, choose<Copy>(context, node, {args.from, args.to, shape.rank}));
  if (axis < 0) axis += shape.rank;
  std::vector<Part> parts;
  for (const ValueId input : node.inputs) {
    Part& part = parts.emplace_back();
    ORRERY_ASSIGN(part.slot, elements_of(context, input));
    ORRERY_ASSIGN(const StepShape own, step_shape(context, node, input));
    part.size = own.rank == shape.rank ? own.extents[static_cast<size_t>(axis)] : RowCount{1, 0, 0, 0};
  }
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run, parts = std::move(parts)](const StepContext& step) {
    auto call = args;
    int64_t sizes[kernels::kMaxRank];
    shape.at(step, sizes);
    kernels::pack_strides(shape.rank, sizes, call.walk.strides[1]);
    auto* to = step.data<std::byte>(dst);
    for (const Part& part : parts) {
      shape.at(step, call.walk.sizes);
      call.walk.sizes[axis] = part.size.at(step);
      kernels::pack_strides(shape.rank, call.walk.sizes, call.walk.strides[0]);
      call.src = step.address(part.slot);
      call.dst = to;
      if (call.walk.elements() > 0) run(call, step.launch());
      to += call.walk.sizes[axis] * call.walk.strides[1][axis] * dtype_info(call.to).block_bytes;
    }
  };
  return std::move(chosen.lowered);
}

OpSchema concat_op() {
  return {.name = "concat",
          .family = OpFamily::data_movement,
          .doc = "Values one after another along an axis.",
          .inputs = {{.name = "parts", .variadic = true}},
          .outputs = {"dst"},
          .attributes = {{"axis", "The axis along which they follow one another; negative: from the last",
                          Attribute(int64_t{0})}},
          .infer = infer,
          .cost = cost_moved,
          .gradient = gradient,
          .lowering = lowered_to<Copy>(lower)};
}

}  // namespace orrery::ops
