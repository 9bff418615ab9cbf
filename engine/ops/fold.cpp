// fold: sums of windows that overlap, put where they were taken from (kernels/fold.h)
#include "kernels/fold.h"

#include "engine/ops/gradients.h"
#include "engine/ops/window_support.h"

namespace orrery::ops {
namespace {

using kernels::Fold;
using kernels::kSpatial;
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

/// What the taps of every window read along a dim, in steps of `step`, from `beyond` on what lies outside:
/// (taps, windows), spread over the dims (down, across) of both.
Term places_along(Gradients& at, const Fold::Problem& problem, int d, int64_t step, int64_t beyond) {
  std::vector<double> places;
  for (int64_t k = 0; k < problem.window.kernel[d]; ++k)
    for (int64_t window = 0; window < problem.places[d]; ++window) {
      const int64_t read = problem.window.reads(d, window, k, problem.size[d]);
      places.push_back(static_cast<double>(read < 0 ? beyond : read * step));
    }
  const int64_t taps = problem.window.kernel[d], windows = problem.places[d];
  const Shape shape = d == kSpatial - 1 ? Shape{1, taps, 1, windows} : Shape{taps, 1, windows, 1};
  return at.constant({DType::i64, shape}, std::move(places));
}

/// The windows taken apart: each tap has what came back to the place where it was added.
void gradient(Gradients& at) {
  const ValueType src = at.input(0).type();
  const auto made = folded({.attributes = &at.attributes(), .inputs = {&src}, .outputs = {}});
  if (!made.ok()) return at.refuse(made.error().what);
  const Fold::Problem& problem = made->problem;
  const int64_t elements = problem.size[1] * problem.size[2];  // nothing lies there or beyond
  const Term places =
      places_along(at, problem, 1, problem.size[2], elements) + places_along(at, problem, 2, 1, elements);
  const Term image = reshaped(at.gradient(), {src.shape[0], made->channels, elements});
  if (!image || !places) return;
  at.give(0, reshaped(at.apply("gather", {image, places}, {{"axis", int64_t{2}}}), src.shape));
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
      .gradient = gradient,
      .lowering = lowered_to<Fold>(lower)};
}

}  // namespace orrery::ops
