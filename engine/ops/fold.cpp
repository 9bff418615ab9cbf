// fold: sums of windows that overlap, put where they were taken from (kernels/fold.h)
#include "kernels/fold.h"

#include "engine/ops/window_support.h"

namespace orrery::ops {
namespace {

using kernels::Fold;
constexpr int kDims = 2;

/// A problem but for its planes, and the channels of an image.
struct Folded {
  Fold::Problem problem;
  int64_t channels;
};

Result<Folded> folded(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.shape.size() != 3 || !src.shape[1].is_constant() || !src.shape[2].is_constant())
    return mismatch("src", fmt::format("src is {}; fold takes [n, channels * taps, windows], fixed but for n",
                                       to_string(src)));
  ORRERY_ASSIGN(const std::vector<int64_t> size, per_dim(*view.attributes, "output_size", kDims, 0, 1));
  ORRERY_ASSIGN(const std::vector<int64_t> kernel, per_dim(*view.attributes, "kernel", kDims, 0, 1));
  ORRERY_ASSIGN(const NodeWindow node, window_of(*view.attributes, kernel));
  Folded made{};
  Fold::Problem& problem = made.problem;
  problem.dtype = src.dtype;
  problem.window = node.window;
  for (int spatial = 0; spatial < kDims; ++spatial) {
    const int d = node.at(spatial);
    problem.size[d] = size[static_cast<size_t>(spatial)];
    const int64_t room = problem.size[d] + node.window.padding[d] + node.after[d] - node.window.extent(d);
    problem.places[d] = room < 0 ? 0 : room / node.window.stride[d] + 1;
  }
  const int64_t taps = node.window.taps(), places = kernels::volume(problem.places);
  if (src.shape[1].constant() % taps != 0 || src.shape[2].constant() != places || places < 1)
    return mismatch("src", fmt::format("src is {}, but an image of {} has {} windows of {} taps; src must be "
                                       "[n, multiple of {}, {}]",
                                       to_string(src), fmt::join(size, " x "), places, taps, taps, places));
  made.channels = src.shape[1].constant() / taps;
  return made;
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Folded made, folded(view));
  return std::vector{
      ValueType{made.problem.dtype,
                {view.inputs[0]->shape[0], made.channels, made.problem.size[1], made.problem.size[2]}}};
}

/// An addition an element of src.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return {count(view.inputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  ORRERY_ASSIGN(const Folded made,
                folded({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  ORRERY_ASSIGN(const RowCount images, row_count(context, node, node.inputs[0]));
  Fold::Args args;
  args.problem = made.problem;
  args.problem.planes = bounds(context, images).max * made.channels;
  ORRERY_ASSIGN(auto chosen, choose<Fold>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, channels = made.channels, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.problem.planes = images.at(step) * channels;
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.problem.planes > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema fold_op() {
  std::vector<AttributeSpec> attributes = {
      {"output_size", "Height and width of dst", {}, AttributeType::list},
      {"kernel", "Taps of a window: one number, or one for each dim", {}, AttributeType::list}};
  for (AttributeSpec& spec :
       window_attributes("From one window to the next: one number, or one for each dim"))
    attributes.push_back(std::move(spec));
  return {
      .name = "fold",
      .family = OpFamily::data_movement,
      .doc = "Puts windows back where they were taken from in an image, and adds them where they overlap.",
      .inputs = {{"src"}},
      .outputs = {"dst"},
      .attributes = std::move(attributes),
      .infer = infer,
      .cost = cost,
      .lowering = lowered_to<Fold>(lower)};
}

}  // namespace orrery::ops
