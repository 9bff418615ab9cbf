// top_k, bottom_k: the first k elements along an axis in order, and where they stood
// argsort: where each element of an axis stands in order
#include "kernels/top_k.h"

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::TopK;

Result<size_t> axis_of_src(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  return axis_of(view, 0, "src", integer(*view.attributes, "axis"));
}

/// A size that differs from step to step is compared with k before each.
Types infer_first(const NodeView& view) {
  ORRERY_ASSIGN(const size_t axis, axis_of_src(view));
  ORRERY_TRY(expect_positive(*view.attributes, "k"));
  const int64_t k = integer(*view.attributes, "k");
  const Dim& dim = view.inputs[0]->shape[axis];
  if (dim.is_constant() && dim.constant() < k)
    return mismatch("src", fmt::format("k is {}, but axis {} of src {} has {} elements", k, axis,
                                       to_string(*view.inputs[0]), dim.constant()));
  ValueType values = *view.inputs[0];
  values.shape[axis] = k;
  return std::vector{values, ValueType{DType::i64, values.shape}};
}

Types infer_order(const NodeView& view) {
  ORRERY_TRY(axis_of_src(view));
  return std::vector{ValueType{DType::i64, view.inputs[0]->shape}};
}

/// A comparison an element.
Cost cost(const NodeView& view, const Bindings& bindings) {
  double moved = bytes(*view.inputs[0], bindings);
  for (const ValueType* output : view.outputs) moved += bytes(*output, bindings);
  return {count(view.inputs[0]->shape, bindings), moved};
}

/// At most, in a step of the plan; held at the end of the numbers.
int64_t most_of(const LowerContext& context, const StepShape& shape, int begin, int end) {
  int64_t most = 1;
  for (int d = begin; d < end; ++d)
    most = product(most, bounds(context, shape.extents[static_cast<size_t>(d)]).max).value_or(INT64_MAX);
  return most;
}

/// The indices are the last output, the values the one before where there is one.
Result<Lowered> lower_to(LowerContext& context, const graph::Node& node, int64_t k, bool largest) {
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  const int64_t named = integer(node.attributes, "axis");
  const int axis = static_cast<int>(named < 0 ? named + shape.rank : named);
  const RowCount& size = shape.extents[static_cast<size_t>(axis)];
  TopK::Args args;
  args.problem = {
      .dtype = context.type(node.inputs[0]).dtype,
      .k = k,
      .largest = largest,
      .rows = product(most_of(context, shape, 0, axis), most_of(context, shape, axis + 1, shape.rank))
                  .value_or(INT64_MAX),
      .count = std::max(most_of(context, shape, axis, axis + 1), k)};
  ORRERY_ASSIGN(auto chosen, choose<TopK>(context, node, args.problem));
  if (k != TopK::kAll && size != RowCount{size.constant, 0, 0, 0})
    chosen.lowered.least = {
        size, k, fmt::format("axis {} of {}", axis, context.graph().value_path(node.inputs[0])), node.path()};
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot values = node.outputs.size() > 1 ? context.slot(node.outputs.front()) : Slot{};
  const Slot indices = context.slot(node.outputs.back());
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.outer = shape.product(step, 0, axis);
    call.count = shape.product(step, axis, axis + 1);
    call.inner = shape.product(step, axis + 1, shape.rank);
    call.src = step.address(src);
    call.values = step.data<void>(values);
    call.indices = step.data<void>(indices);
    if (call.outer > 0 && call.count > 0 && call.inner > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

AttributeSpec axis_attribute() {
  return {"axis", "The axis whose elements are compared; negative: from the last", Attribute(int64_t{-1})};
}

/// The elements that were taken get theirs, the others none.
void gradient(Gradients& at) {
  if (at.gradient())
    at.give(0, at.apply("scatter", {zeros_like(at.input(0)), at.gradient(), at.output(1)},
                        {{"axis", integer(at.attributes(), "axis")}}));
}

/// What top_k and bottom_k have in common.
OpSchema first_op(std::string name, std::string doc) {
  return {.name = std::move(name),
          .family = OpFamily::data_movement,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = {"values", "indices"},
          .attributes = {{"k", "How many are taken", {}, AttributeType::integer},
                         axis_attribute(),
                         {"sorted", "They must be in order; they are in either case", Attribute(true)}},
          .infer = infer_first,
          .cost = cost,
          .gradient = gradient};
}

}  // namespace

OpSchema top_k_op() {
  OpSchema op = first_op("top_k",
                         "Takes the k largest elements along an axis, in order, and their indices. Of equal "
                         "ones the first comes first; NaN is greater than every number.");
  op.attributes.push_back({"largest", "The largest; else the smallest", Attribute(true)});
  op.lowering = lowered_to<TopK>([](LowerContext& context, const graph::Node& node) {
    return lower_to(context, node, integer(node.attributes, "k"), flag(node.attributes, "largest"));
  });
  return op;
}

OpSchema bottom_k_op() {
  OpSchema op = first_op("bottom_k",
                         "Takes the k smallest elements along an axis, in order, and their indices. Of "
                         "equal ones the first comes first; NaN is greater than every number.");
  op.lowering = lowered_to<TopK>([](LowerContext& context, const graph::Node& node) {
    return lower_to(context, node, integer(node.attributes, "k"), false);
  });
  return op;
}

OpSchema argsort_op() {
  return {.name = "argsort",
          .family = OpFamily::data_movement,
          .doc =
              "Gives the indices that put the elements along an axis in order. Equal ones keep their "
              "order; NaN is greater than every number.",
          .inputs = {{"src"}},
          .outputs = {"indices"},
          .attributes = {axis_attribute(), {"descending", "The largest come first", Attribute(false)}},
          .infer = infer_order,
          .cost = cost,
          .stops_gradient = true,
          .lowering = lowered_to<TopK>([](LowerContext& context, const graph::Node& node) {
            return lower_to(context, node, TopK::kAll, flag(node.attributes, "descending"));
          })};
}

}  // namespace orrery::ops
