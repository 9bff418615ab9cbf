// recurrence: dst[j] = factor[j] dst[j - 1] + src[j] along an axis (kernels/recurrence.h)
#include "kernels/recurrence.h"

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Recurrence;
enum Operand : size_t { kFactor, kSrc };

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, kFactor, "factor"));
  ORRERY_TRY(expect_same(view, kSrc, "src", kFactor, "factor"));
  ORRERY_TRY(axis_of(view, kFactor, "factor", integer(*view.attributes, "axis")));
  return std::vector{*view.inputs[kSrc]};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {2 * count(view.outputs[0]->shape, bindings), 3 * bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[kFactor]);
  const auto axis = static_cast<int>(place_of(integer(node.attributes, "axis"), type.shape.size()));
  Recurrence::Args args;
  args.dtype = type.dtype;
  args.reverse = flag(node.attributes, "reverse");
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[kFactor]));
  ORRERY_ASSIGN(auto chosen, choose<Recurrence>(context, node, {args.dtype}));
  ORRERY_ASSIGN(const Slot factor, elements_of(context, node.inputs[kFactor]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[kSrc]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.outer = shape.product(step, 0, axis);
    call.count = shape.product(step, axis, axis + 1);
    call.inner = shape.product(step, axis + 1, shape.rank);
    call.factor = step.address(factor);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.outer > 0 && call.inner > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// The numbers of the places along an axis, i32 of one dim.
Term places_along(const Term& value, size_t axis) {
  const Shape& shape = value.type().shape;
  std::vector<int64_t> others, begin, end;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == axis) continue;
    others.push_back(static_cast<int64_t>(d));
    begin.push_back(0);
    end.push_back(1);
  }
  Term line = value;
  if (!others.empty()) line = apply("slice", line, {{"axes", others}, {"starts", begin}, {"stops", end}});
  const Term numbers = numbered(line, static_cast<int64_t>(axis), DType::i32);
  return others.empty() ? numbers : apply("flatten", numbers);
}

/// What lies one place further along the axis (by = 1), or before it (-1); zeros where there is none.
Term neighbours(Gradients& at, const Term& value, size_t axis, int64_t by) {
  const Term place = places_along(value, axis);
  if (!place) return place;
  const Term moved = place + static_cast<double>(by);
  constexpr double kNowhere = 2147483647;
  const Term index =
      where(at.apply("less", {moved, at.number(0, DType::i32)}), at.number(kNowhere, DType::i32), moved);
  return index ? at.apply("gather", {value, index}, {{"axis", static_cast<int64_t>(axis)}}) : index;
}

/// What comes back to a place is its own gradient and, by the next factor, that of the next place: the same
/// recurrence the other way. A factor's is that times what it was multiplied with.
void gradient(Gradients& at) {
  const bool reverse = flag(at.attributes(), "reverse");
  const Term factor = at.input(kFactor);
  const size_t axis = place_of(integer(at.attributes(), "axis"), factor.type().shape.size());
  const int64_t next = reverse ? -1 : 1;
  const Term back = at.apply("recurrence", {neighbours(at, factor, axis, next), at.gradient()},
                             {{"axis", static_cast<int64_t>(axis)}, {"reverse", !reverse}});
  at.give(kSrc, back);
  if (at.wants(kFactor) && back) at.give(kFactor, back * neighbours(at, at.output(), axis, -next));
}

}  // namespace

OpSchema recurrence_op() {
  return {.name = "recurrence",
          .family = OpFamily::elementwise,
          .doc = "Each number along an axis is src and, by its factor, the number before it.",
          .inputs = {{"factor"}, {"src"}},
          .outputs = {"dst"},
          .attributes = {{"axis", "The axis; negative: from the last", Attribute(int64_t{-1})},
                         {"reverse", "Whether it begins at the end", Attribute(false)}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<Recurrence>(lower)};
}

}  // namespace orrery::ops
