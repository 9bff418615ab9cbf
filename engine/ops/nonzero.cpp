// nonzero: the places of what is not 0; masked_scatter: values put where a mask is set (kernels/nonzero.h)
#include "kernels/nonzero.h"

#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Nonzero;

/// As many rows as src has elements, where the attribute does not say.
Result<Dim> rows_of_places(const NodeView& view) {
  const int64_t size = integer(*view.attributes, "size");
  if (size < 0) return bad_attribute(fmt::format("size is {}; it must be at least 1, or 0 for all", size));
  Dim rows = 1;
  for (const Dim& dim : view.inputs[0]->shape) {
    if (size == 0 && !rows.is_constant() && !dim.is_constant())
      return mismatch("src", fmt::format("src is {}; no dim is the number of its elements: give a size",
                                         to_string(*view.inputs[0])));
    rows = dim.is_constant() ? rows * dim.constant() : dim * (rows.is_constant() ? rows.constant() : 1);
  }
  return size == 0 ? rows : Dim(size);
}

Types infer_nonzero(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.shape.empty()) return mismatch("src", "src is one number; it must have dims");
  ORRERY_ASSIGN(const Dim rows, rows_of_places(view));
  return std::vector{ValueType{DType::i64, {rows, static_cast<int64_t>(src.shape.size())}},
                     ValueType{DType::i64, {1}}};
}

Types infer_masked_scatter(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ORRERY_TRY(expect_elements(view, 2, "updates"));
  const ValueType &src = *view.inputs[0], &mask = *view.inputs[1], &updates = *view.inputs[2];
  if (mask != ValueType{DType::boolean, src.shape})
    return mismatch("mask", fmt::format("mask is {}, but src is {}; it must be of bool and of that shape",
                                        to_string(mask), to_string(src)));
  if (updates.dtype != src.dtype)
    return mismatch("updates", fmt::format("updates is {}, but src is {}; they must be of one type",
                                           to_string(updates), to_string(src)));
  return std::vector{src};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  Cost cost;
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  for (const ValueType* output : view.outputs) cost.bytes += bytes(output, bindings);
  return cost;
}

Result<Lowered> lower_nonzero(LowerContext& context, const graph::Node& node) {
  Nonzero::Args args;
  args.problem = {Nonzero::Function::places, context.type(node.inputs[0]).dtype, DType::i64};
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.outputs[0]));
  args.rank = shape.rank;
  ORRERY_ASSIGN(auto chosen, choose<Nonzero>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot places = context.slot(node.outputs[0]), count = context.slot(node.outputs[1]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    shape.at(step, call.sizes);
    call.capacity = rows.at(step);
    call.mask = step.address(src);
    call.dst = step.data<void>(places);
    call.count = step.data<int64_t>(count);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_masked_scatter(LowerContext& context, const graph::Node& node) {
  Nonzero::Args args;
  args.problem = {Nonzero::Function::put, DType::boolean, context.type(node.inputs[0]).dtype};
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const StepShape given, step_shape(context, node, node.inputs[2]));
  ORRERY_ASSIGN(auto chosen, choose<Nonzero>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  ORRERY_ASSIGN(const Slot mask, elements_of(context, node.inputs[1]));
  ORRERY_ASSIGN(const Slot updates, elements_of(context, node.inputs[2]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.sizes[0] = shape.product(step, 0, shape.rank);
    call.capacity = given.product(step, 0, given.rank);
    call.mask = step.address(mask);
    call.src = step.address(src);
    call.values = step.address(updates);
    call.dst = step.data<void>(dst);
    if (call.sizes[0] > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema nonzero_op() {
  return {.name = "nonzero",
          .family = OpFamily::data_movement,
          .doc = "Where a value is not 0: the places of those elements, in order.",
          .inputs = {{"src"}},
          .outputs = {"indices", "count"},
          .attributes = {{"size", "How many places there is room for; those that are left are -1; 0: for all",
                          Attribute(int64_t{0})}},
          .infer = infer_nonzero,
          .cost = cost,
          .stops_gradient = true,
          .lowering = lowered_to<Nonzero>(lower_nonzero)};
}

OpSchema masked_scatter_op() {
  return {.name = "masked_scatter",
          .family = OpFamily::data_movement,
          .doc = "A value with others, one after another, where a mask is set.",
          .inputs = {{"src"}, {"mask"}, {"updates"}},
          .outputs = {"dst"},
          .infer = infer_masked_scatter,
          .cost = cost,
          .lowering = lowered_to<Nonzero>(lower_masked_scatter)};
}

}  // namespace orrery::ops
