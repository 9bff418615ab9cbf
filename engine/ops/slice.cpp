// slice: dst = src[start:stop:step] on some axes, bounds as of Python's slices; steps may go backwards
#include <algorithm>
#include <cstdlib>

#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

/// What is taken of an axis: `count` elements from `first`, `step` apart.
struct Taken {
  size_t axis;
  int64_t first, count, step;
};

Result<std::vector<Taken>> taken_of(const ValueType& src, const Attributes& attributes) {
  const std::vector<int64_t> axes = list(attributes, "axes"), starts = list(attributes, "starts"),
                             stops = list(attributes, "stops"), steps = list(attributes, "steps");
  if (axes.size() != starts.size() || axes.size() != stops.size() ||
      (!steps.empty() && steps.size() != axes.size()))
    return bad_attribute(
        fmt::format("axes, starts, stops and steps have {}, {}, {} and {} numbers; each "
                    "axis needs one of each",
                    axes.size(), starts.size(), stops.size(), steps.size()));
  std::vector<Taken> taken;
  const auto rank = static_cast<int64_t>(src.shape.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], step = steps.empty() ? 1 : steps[i];
    const auto twice = [&](const Taken& other) { return static_cast<int64_t>(other.axis) == axis; };
    if (axis < 0 || axis >= rank || std::any_of(taken.begin(), taken.end(), twice))
      return mismatch("src",
                      fmt::format("axis {} is not there or named twice: src is {}", axes[i], to_string(src)));
    const Dim& dim = src.shape[static_cast<size_t>(axis)];
    if (!dim.is_constant())
      return mismatch("src", fmt::format("axis {} of src {} has {} elements, which differs from step to "
                                         "step; slices have fixed bounds",
                                         axes[i], to_string(src), dim.to_string()));
    const int64_t size = dim.constant();
    const bool back = step < 0;  // then from start down to after stop, which may be before the first
    const auto bound = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? std::max(at, -size - 1) + size : at, back ? -1 : 0,
                                 back ? size - 1 : size);
    };
    const int64_t first = bound(starts[i]), end = bound(stops[i]), way = back ? first - end : end - first;
    if (step == 0 || step == INT64_MIN || way <= 0)
      return mismatch("src", fmt::format("[{}:{}:{}] takes nothing of axis {} of src {}", starts[i], stops[i],
                                         step, axes[i], to_string(src)));
    taken.push_back({static_cast<size_t>(axis), first, (way - 1) / std::abs(step) + 1, step});
  }
  return taken;
}

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ORRERY_ASSIGN(const std::vector<Taken> taken, taken_of(*view.inputs[0], *view.attributes));
  ValueType dst = *view.inputs[0];
  for (const Taken& part : taken) dst.shape[part.axis] = part.count;
  return std::vector{std::move(dst)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& src = context.type(node.inputs[0]);
  ORRERY_ASSIGN(std::vector<Taken> taken, taken_of(src, node.attributes));
  return lower_copy(context, node,
                    [rank = static_cast<int>(src.shape.size()), taken = std::move(taken)](
                        const int64_t* sizes, const int64_t*, int64_t* strides) {
                      int64_t first = 0;
                      kernels::pack_strides(rank, sizes, strides);
                      for (const Taken& part : taken) {
                        first += part.first * strides[part.axis];
                        strides[part.axis] *= part.step;
                      }
                      return first;
                    });
}

/// Axis after axis, the last first: each is put back among zeros of the value that it was taken of.
void gradient(Gradients& at) {
  const auto taken = taken_of(at.input(0).type(), at.attributes());
  if (!taken.ok()) return at.refuse(taken.error().what);
  std::vector<Term> before{at.input(0)};  // before[i]: sliced on the first i axes
  for (size_t i = 0; i + 1 < taken->size(); ++i) {
    const Taken& part = (*taken)[i];
    before.push_back(apply("slice", before.back(),
                           {{"axes", std::vector{static_cast<int64_t>(part.axis)}},
                            {"starts", std::vector{part.first}},
                            {"stops", std::vector{part.first + (part.count - 1) * part.step + 1}},
                            {"steps", std::vector{part.step}}}));
  }
  Term g = at.gradient();
  for (size_t i = taken->size(); i-- > 0;) {
    const Taken& part = (*taken)[i];
    g = padded(g, before[i], part.axis, part.first, part.step);
  }
  at.give(0, g);
}

}  // namespace

OpSchema slice_op() {
  const Attribute none = std::vector<int64_t>();
  return {.name = "slice",
          .family = OpFamily::data_movement,
          .doc = "A part of a value: from start to before stop, in steps, on some axes.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes =
              {{"axes", "The axes; negative: from the last", {}, AttributeType::list},
               {"starts", "The first element of each; negative: from the end", {}, AttributeType::list},
               {"stops", "The one after the last of each; negative: from the end", {}, AttributeType::list},
               {"steps", "From one element to the next, negative: backwards; empty: 1", none}},
          .infer = infer,
          .cost = cost_moved,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
