// gather: what lies along an axis at the places that indices say; gather_nd: at places in several dims
#include <algorithm>

#include "engine/ops/gradients.h"
#include "engine/ops/index_support.h"
#include "kernels/take.h"

namespace orrery::ops {
namespace {

using kernels::Take;

Shape joined(const Shape& shape, size_t from, size_t to, const Shape& instead, size_t of_instead) {
  Shape made(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(from));
  made.insert(made.end(), instead.begin(), instead.begin() + static_cast<std::ptrdiff_t>(of_instead));
  made.insert(made.end(), shape.begin() + static_cast<std::ptrdiff_t>(to), shape.end());
  return made;
}

Types gathered(const NodeView& view, Shape shape) {
  if (shape.size() > kernels::kMaxRank)
    return mismatch("indices",
                    fmt::format("indices is {} and src {}; the result may have {} dims",
                                to_string(*view.inputs[1]), to_string(*view.inputs[0]), kernels::kMaxRank));
  return std::vector{ValueType{view.inputs[0]->dtype, std::move(shape)}};
}

Types infer_gather(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ORRERY_TRY(expect_indices(view, 1));
  ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  const Shape& places = view.inputs[1]->shape;
  return gathered(view, joined(view.inputs[0]->shape, axis, axis + 1, places, places.size()));
}

Types infer_gather_nd(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ORRERY_TRY(expect_indices(view, 1));
  ORRERY_ASSIGN(const size_t depth, found_dims(view, 1));
  const Shape& places = view.inputs[1]->shape;
  return gathered(view, joined(view.inputs[0]->shape, 0, depth, places, places.size() - 1));
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, 2 * bytes(*view.outputs[0], bindings) + bytes(*view.inputs[1], bindings)};
}

/// Dims [first, first + depth) of src are found.
Result<Lowered> lower(LowerContext& context, const graph::Node& node, int first, int depth) {
  Take::Args args;
  args.problem = {context.type(node.inputs[0]).dtype, context.type(node.inputs[1]).dtype};
  args.depth = depth;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const StepShape places, step_shape(context, node, node.inputs[1]));
  ORRERY_ASSIGN(auto chosen, choose<Take>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  ORRERY_ASSIGN(const Slot indices, elements_of(context, node.inputs[1]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    int64_t sizes[kernels::kMaxRank];
    shape.at(step, sizes);
    std::copy_n(sizes + first, depth, call.sizes);
    call.outer = shape.product(step, 0, first);
    call.inner = shape.product(step, first + depth, shape.rank);
    call.places = places.product(step, 0, places.rank) / (depth > 1 ? depth : 1);
    call.src = step.address(src);
    call.indices = step.address(indices);
    call.dst = step.data<void>(dst);
    if (call.outer > 0 && call.inner > 0 && call.places > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_gather(LowerContext& context, const graph::Node& node) {
  const int64_t axis = integer(node.attributes, "axis");
  const auto rank = static_cast<int64_t>(context.type(node.inputs[0]).shape.size());
  return lower(context, node, static_cast<int>(axis < 0 ? axis + rank : axis), 1);
}

Result<Lowered> lower_gather_nd(LowerContext& context, const graph::Node& node) {
  return lower(context, node, 0, static_cast<int>(context.type(node.inputs[1]).shape.back().constant()));
}

/// Each place adds up what was taken of it. Dims that are found come first while it does.
void gradient_of_gather(Gradients& at) {
  if (!at.wants(0)) return;
  const Term indices = at.input(1);
  const size_t rank = at.input(0).type().shape.size(), found = indices.type().shape.size();
  const size_t axis = place_of(integer(at.attributes(), "axis"), rank);
  std::vector<int64_t> src_first, gradient_first, back(rank);
  for (size_t d = axis; d < axis + 1; ++d) src_first.push_back(static_cast<int64_t>(d));
  for (size_t d = axis; d < axis + found; ++d) gradient_first.push_back(static_cast<int64_t>(d));
  for (size_t d = 0; d < rank; ++d)
    if (d != axis) src_first.push_back(static_cast<int64_t>(d));
  for (size_t d = 0; d < rank - 1 + found; ++d)
    if (d < axis || d >= axis + found) gradient_first.push_back(static_cast<int64_t>(d));
  for (size_t d = 0; d < rank; ++d) back[static_cast<size_t>(src_first[d])] = static_cast<int64_t>(d);
  const Term zeros = zeros_like(at.input(0));
  const Term into = axis == 0 ? zeros : transpose(zeros, src_first);
  const Term g = axis == 0 ? at.gradient() : transpose(at.gradient(), gradient_first);
  const Term made = at.apply("scatter_nd_add", {into, g, unsqueeze(indices, -1)});
  at.give(0, axis == 0 ? made : transpose(made, back));
}

void gradient_of_gather_nd(Gradients& at) {
  if (at.wants(0))
    at.give(0, at.apply("scatter_nd_add", {zeros_like(at.input(0)), at.gradient(), at.input(1)}));
}

}  // namespace

OpSchema gather_op() {
  return {
      .name = "gather",
      .family = OpFamily::data_movement,
      .doc =
          "What lies along an axis at the places that indices say; negative ones count from the end, zeros "
          "where there is none.",
      .inputs = {{"src"}, {"indices"}},
      .outputs = {"dst"},
      .attributes = {{"axis", "The axis; negative: from the last", Attribute(int64_t{0})}},
      .infer = infer_gather,
      .cost = cost,
      .gradient = gradient_of_gather,
      .lowering = lowered_to<Take>(lower_gather)};
}
OpSchema gather_nd_op() {
  return {
      .name = "gather_nd",
      .family = OpFamily::data_movement,
      .doc =
          "What lies at places in the first dims of a value, a number for each of them along the last dim of "
          "indices.",
      .inputs = {{"src"}, {"indices"}},
      .outputs = {"dst"},
      .infer = infer_gather_nd,
      .cost = cost,
      .gradient = gradient_of_gather_nd,
      .lowering = lowered_to<Take>(lower_gather_nd)};
}

}  // namespace orrery::ops
