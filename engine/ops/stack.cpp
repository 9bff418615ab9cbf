// stack: values alike one after another along a new axis
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  if (view.inputs.empty()) return bad_attribute("stack needs at least one part");
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    ORRERY_TRY(expect_elements(view, i, "parts"));
    if (*view.inputs[i] != *view.inputs[0])
      return mismatch("parts", fmt::format("part {} is {}, but part 0 is {}; they must be alike", i,
                                           to_string(*view.inputs[i]), to_string(*view.inputs[0])));
  }
  ValueType dst = *view.inputs[0];
  const auto rank = static_cast<int64_t>(dst.shape.size()) + 1;
  const int64_t asked = integer(*view.attributes, "axis"), axis = asked < 0 ? asked + rank : asked;
  if (axis < 0 || axis >= rank || rank > kernels::kMaxRank)
    return mismatch("parts", fmt::format("axis is {}, but part 0 is {}; the result may have {} dims", asked,
                                         to_string(dst), kernels::kMaxRank));
  dst.shape.insert(dst.shape.begin() + axis, Dim(static_cast<int64_t>(view.inputs.size())));
  return std::vector{std::move(dst)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_concat(context, node, integer(node.attributes, "axis"));
}

/// Each part has its own element of the new axis.
void gradient(Gradients& at) {
  const auto axis =
      static_cast<int64_t>(place_of(integer(at.attributes(), "axis"), at.output().type().shape.size()));
  for (size_t i = 0; i < at.inputs(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (at.wants(i))
      at.give(i, apply("squeeze",
                       apply("slice", at.gradient(),
                             {{"axes", std::vector{axis}},
                              {"starts", std::vector{place}},
                              {"stops", std::vector{place + 1}}}),
                       {{"axis", axis}}));
  }
}

}  // namespace

OpSchema stack_op() {
  return {.name = "stack",
          .family = OpFamily::data_movement,
          .doc = "Values alike one after another along a new axis.",
          .inputs = {{.name = "parts", .variadic = true}},
          .outputs = {"dst"},
          .attributes = {{"axis", "Where the new axis is in the result; negative: from the last",
                          Attribute(int64_t{0})}},
          .infer = infer,
          .cost = cost_moved,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
