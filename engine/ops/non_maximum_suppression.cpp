// non_maximum_suppression: for each class of each image, the boxes that do not overlap better ones
// (kernels/suppression.h)
#include <cmath>

#include "engine/ops/tensor_support.h"
#include "kernels/suppression.h"

namespace orrery::ops {
namespace {

using kernels::Suppression;
enum Operand : size_t { kBoxes, kScores };

Types infer(const NodeView& view) {
  const ValueType &boxes = *view.inputs[kBoxes], &scores = *view.inputs[kScores];
  if (boxes.dtype != DType::f32 || boxes.shape.size() != 3 || boxes.shape[2] != Dim(4))
    return mismatch("boxes", fmt::format("boxes is {}; it must be f32[images, boxes, 4]", to_string(boxes)));
  const bool fits = scores.dtype == DType::f32 && scores.shape.size() == 3 &&
                    scores.shape[0] == boxes.shape[0] && scores.shape[2] == boxes.shape[1];
  if (!fits || !scores.shape[1].is_constant() || scores.shape[1].constant() < 1)
    return mismatch("scores", fmt::format("scores is {}, but boxes is {}; it must be f32[{}, classes, {}]",
                                          to_string(scores), to_string(boxes), boxes.shape[0].to_string(),
                                          boxes.shape[1].to_string()));
  ORRERY_TRY(expect_positive(*view.attributes, "max_output_boxes_per_class"));
  for (const std::string_view name : {"iou_threshold", "score_threshold"})
    if (std::isnan(real(*view.attributes, name))) return bad_attribute(fmt::format("{} is no number", name));
  const Shape counts = {boxes.shape[0], scores.shape[1]};
  Shape selected = counts;
  selected.emplace_back(integer(*view.attributes, "max_output_boxes_per_class"));
  return std::vector{ValueType{DType::i64, std::move(selected)}, ValueType{DType::i64, counts}};
}

/// A comparison a score, and of each box that is taken its overlap with all of them at most: some 12
/// operations.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const auto most = static_cast<double>(integer(*view.attributes, "max_output_boxes_per_class"));
  return {count(view.inputs[kScores]->shape, bindings) * (1 + 12 * most),
          bytes(*view.inputs[kBoxes], bindings) + bytes(*view.inputs[kScores], bindings) +
              bytes(*view.outputs[0], bindings) + bytes(*view.outputs[1], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[kScores]));
  Suppression::Args args;
  args.problem = {.images = bounds(context, shape.extents[0]).max,
                  .classes = shape.extents[1].constant,
                  .boxes = bounds(context, shape.extents[2]).max,
                  .most = integer(node.attributes, "max_output_boxes_per_class"),
                  .overlap = static_cast<float>(real(node.attributes, "iou_threshold")),
                  .least_score = static_cast<float>(real(node.attributes, "score_threshold"))};
  ORRERY_ASSIGN(auto chosen, choose<Suppression>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot boxes, elements_of(context, node.inputs[kBoxes]));
  ORRERY_ASSIGN(const Slot scores, elements_of(context, node.inputs[kScores]));
  const Slot selected = context.slot(node.outputs[0]), counts = context.slot(node.outputs[1]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.problem.images = shape.extents[0].at(step);
    call.problem.boxes = shape.extents[2].at(step);
    call.boxes = static_cast<const float*>(step.address(boxes));
    call.scores = static_cast<const float*>(step.address(scores));
    call.selected = step.data<int64_t>(selected);
    call.counts = step.data<int64_t>(counts);
    if (call.problem.images > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema non_maximum_suppression_op() {
  return {.name = "non_maximum_suppression",
          .family = OpFamily::data_movement,
          .doc =
              "Takes, for each class of each image, the boxes with the best scores that do not overlap "
              "better ones. As many places as may be taken; those after the last hold -1.",
          .inputs = {{"boxes"}, {"scores"}},
          .outputs = {"selected", "counts"},
          .attributes =
              {{"max_output_boxes_per_class", "Boxes that are taken, at most", {}, AttributeType::integer},
               {"iou_threshold",
                "A box that overlaps a better one by more (intersection over union) "
                "is left out",
                Attribute(0.5)},
               {"score_threshold", "Only boxes with higher scores are taken", Attribute(0.0)}},
          .infer = infer,
          .cost = cost,
          .stops_gradient = true,
          .lowering = lowered_to<Suppression>(lower)};
}

}  // namespace orrery::ops
