// tile and repeat_interleave: elements several times along their axes, all of an axis again and again, or
// each of them in a row
#include <algorithm>

#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

using kernels::Copy;

/// How often an axis is repeated, and whether each element is on its own.
struct Repeat {
  int64_t times = 1;
  bool each = false;
};

Result<std::vector<Repeat>> repeats_of_tile(const NodeView& view) {
  const std::vector<int64_t> times = list(*view.attributes, "repeats");
  if (times.size() != view.inputs[0]->shape.size())
    return mismatch("src", fmt::format("repeats is [{}], but src is {}; it must have a number for each dim",
                                       fmt::join(times, ", "), to_string(*view.inputs[0])));
  std::vector<Repeat> repeats;
  for (const int64_t each : times) repeats.push_back({each, false});
  return repeats;
}

Result<std::vector<Repeat>> repeats_of_interleave(const NodeView& view) {
  ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  std::vector<Repeat> repeats(view.inputs[0]->shape.size());
  repeats[axis] = {integer(*view.attributes, "repeats"), true};
  return repeats;
}

using RepeatsOf = Result<std::vector<Repeat>> (*)(const NodeView& view);

template <RepeatsOf repeats_of>
Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ValueType dst = *view.inputs[0];
  ORRERY_ASSIGN(const std::vector<Repeat> repeats, repeats_of(view));
  size_t walked = repeats.size();
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d].times < 1)
      return mismatch("src", fmt::format("an axis is repeated {} times; 1 is the least", repeats[d].times));
    walked += repeats[d].times > 1 ? 1 : 0;
    dst.shape[d] = dst.shape[d] * repeats[d].times;
  }
  if (walked > kernels::kMaxRank)
    return mismatch("src", fmt::format("src is {}; kernels walk {} dims, and each repeated axis is one more",
                                       to_string(*view.inputs[0]), kernels::kMaxRank));
  return std::vector{std::move(dst)};
}

/// A repeated axis is walked as two, one of which stands still in the source.
template <RepeatsOf repeats_of>
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  ORRERY_ASSIGN(std::vector<Repeat> repeats,
                repeats_of({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  Copy::Args args;
  args.from = args.to = type.dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  args.walk.rank = shape.rank + static_cast<int>(std::ranges::count_if(
                                    repeats, [](const Repeat& repeat) { return repeat.times > 1; }));
  ORRERY_ASSIGN(auto chosen, choose<Copy>(context, node, {args.from, args.to, args.walk.rank}));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run, repeats = std::move(repeats)](const StepContext& step) {
    auto call = args;
    int64_t sizes[kernels::kMaxRank], strides[kernels::kMaxRank];
    shape.at(step, sizes);
    kernels::pack_strides(shape.rank, sizes, strides);
    int at = 0;
    const auto walk = [&](int64_t size, int64_t stride) {
      call.walk.sizes[at] = size;
      call.walk.strides[0][at++] = stride;
    };
    for (int d = 0; d < shape.rank; ++d) {
      const Repeat& repeat = repeats[static_cast<size_t>(d)];
      if (repeat.times > 1 && !repeat.each) walk(repeat.times, 0);
      walk(sizes[d], strides[d]);
      if (repeat.times > 1 && repeat.each) walk(repeat.times, 0);
    }
    kernels::pack_strides(call.walk.rank, call.walk.sizes, call.walk.strides[1]);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.walk.elements() > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// A repeated axis is two: that of the repeats is summed.
template <RepeatsOf repeats_of>
void gradient(Gradients& at) {
  const ValueType& type = at.input(0).type();
  const auto repeats = repeats_of({.attributes = &at.attributes(), .inputs = {&type}, .outputs = {}});
  if (!repeats.ok()) return at.refuse(repeats.error().what);
  Shape wide;
  std::vector<int64_t> summed;
  for (size_t d = 0; d < repeats->size(); ++d) {
    const auto [times, each] = (*repeats)[d];
    if (times > 1 && each) wide.push_back(type.shape[d]);
    if (times > 1) summed.push_back(static_cast<int64_t>(wide.size()));
    wide.push_back(times > 1 ? Dim(times) : type.shape[d]);
    if (times > 1 && !each) wide.push_back(type.shape[d]);
  }
  Term g = reshaped(at.gradient(), wide);
  for (size_t i = summed.size(); i-- > 0;) g = sum(g, {summed[i]}, false);
  at.give(0, g);
}

template <RepeatsOf repeats_of>
OpSchema repeating_op(std::string name, std::string doc, std::vector<AttributeSpec> attributes) {
  return {.name = std::move(name),
          .family = OpFamily::data_movement,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = std::move(attributes),
          .infer = infer<repeats_of>,
          .cost = cost_moved,
          .gradient = gradient<repeats_of>,
          .lowering = lowered_to<Copy>(lower<repeats_of>)};
}

}  // namespace

OpSchema tile_op() {
  return repeating_op<repeats_of_tile>(
      "tile", "A value several times along each of its axes.",
      {{"repeats", "How often, a number for each dim", {}, AttributeType::list}});
}
OpSchema repeat_interleave_op() {
  return repeating_op<repeats_of_interleave>(
      "repeat_interleave", "Each element of an axis several times in a row.",
      {{"repeats", "How often", {}, AttributeType::integer},
       {"axis", "The axis; negative: from the last", Attribute(int64_t{-1})}});
}

}  // namespace orrery::ops
