// roi_align: fixed grids of samples from boxes of images, and roi_align_backward, its gradient
// (kernels/roi_align.h)
#include "kernels/roi_align.h"

#include <cmath>

#include "engine/ops/gradients.h"
#include "engine/ops/window_support.h"

namespace orrery::ops {
namespace {

using kernels::RoiAlign;
using kernels::RoiAlignBackward;
enum Operand : size_t { kSrc, kBoxes };
constexpr std::string_view kModes[] = {"average", "max"};

Result<RoiAlign::Problem> problem_of(const NodeView& view) {
  ORRERY_TRY(expect_image(view, "src", 2, "roi_align"));
  const ValueType &src = *view.inputs[kSrc], &boxes = *view.inputs[kBoxes];
  if (boxes.dtype != DType::f32 || boxes.shape.size() != 2 || boxes.shape[1] != Dim(5))
    return mismatch("boxes",
                    fmt::format("boxes is {}, but src is {}; boxes must be f32[n, 5]: image, x1, y1, "
                                "x2, y2",
                                to_string(boxes), to_string(src)));
  const Attributes& attributes = *view.attributes;
  ORRERY_TRY(expect_positive(attributes, "output_height"));
  ORRERY_TRY(expect_positive(attributes, "output_width"));
  ORRERY_TRY(expect_choice(attributes, "mode", kModes));
  const int64_t samples = integer(attributes, "sampling_ratio");
  if (samples < 0) return bad_attribute(fmt::format("sampling_ratio is {}; it must be 0 or more", samples));
  const double scale = real(attributes, "spatial_scale");
  if (!(scale > 0) || !std::isfinite(scale))
    return bad_attribute(fmt::format("spatial_scale is {}; it must be positive", scale));
  return RoiAlign::Problem{.dtype = src.dtype,
                           .largest = text(attributes, "mode") == "max",
                           .aligned = flag(attributes, "aligned"),
                           .samples = samples,
                           .scale = static_cast<float>(scale),
                           .channels = src.shape[1].constant(),
                           .height = src.shape[2].constant(),
                           .width = src.shape[3].constant(),
                           .rows = integer(attributes, "output_height"),
                           .cols = integer(attributes, "output_width")};
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const RoiAlign::Problem problem, problem_of(view));
  return std::vector{ValueType{
      problem.dtype, {view.inputs[kBoxes]->shape[0], problem.channels, problem.rows, problem.cols}}};
}

/// Of a cell; where boxes say how many there are, four.
double samples_of(const Attributes& attributes) {
  const auto asked = static_cast<double>(integer(attributes, "sampling_ratio"));
  return asked > 0 ? asked * asked : 4;
}

/// Four multiply-adds a sample.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double cells = count(view.outputs[0]->shape, bindings);
  return {8 * samples_of(*view.attributes) * cells, bytes(*view.inputs[kSrc], bindings) +
                                                        bytes(*view.inputs[kBoxes], bindings) +
                                                        bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  RoiAlign::Args args;
  ORRERY_ASSIGN(args.problem,
                problem_of({.attributes = &node.attributes,
                            .inputs = {&context.type(node.inputs[kSrc]), &context.type(node.inputs[kBoxes])},
                            .outputs = {}}));
  ORRERY_ASSIGN(auto chosen, choose<RoiAlign>(context, node, args.problem));
  ORRERY_ASSIGN(const RowCount images, row_count(context, node, node.inputs[kSrc]));
  ORRERY_ASSIGN(const RowCount boxes, row_count(context, node, node.inputs[kBoxes]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[kSrc]));
  ORRERY_ASSIGN(const Slot box, elements_of(context, node.inputs[kBoxes]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.images = images.at(step);
    call.boxes = boxes.at(step);
    call.src = step.address(src);
    call.box = static_cast<const float*>(step.address(box));
    call.dst = step.data<void>(dst);
    if (call.boxes > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Of src; boxes count as fixed.
void gradient(Gradients& at) {
  if (at.wants(kBoxes)) at.give(kBoxes, zeros_like(at.input(kBoxes)));
  if (!at.wants(kSrc)) return;
  Attributes attributes = at.attributes();
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  at.give(kSrc, at.apply("roi_align_backward", {at.gradient(), at.input(kSrc), at.input(kBoxes)},
                         std::move(attributes)));
}

// ---- roi_align_backward ----

enum BackwardOperand : size_t { kGradDst, kSampled, kBoxesOfGrad };

Result<RoiAlignBackward::Problem> problem_of_backward(const NodeView& view) {
  const ValueType &grad = *view.inputs[kGradDst], &src = *view.inputs[kSampled];
  ORRERY_ASSIGN(RoiAlign::Problem roi, problem_of({.attributes = view.attributes,
                                                   .inputs = {&src, view.inputs[kBoxesOfGrad]},
                                                   .outputs = {}}));
  const ValueType dst{roi.dtype, {view.inputs[kBoxesOfGrad]->shape[0], roi.channels, roi.rows, roi.cols}};
  if (grad != dst)
    return mismatch("grad_dst", fmt::format("grad_dst is {}, but the samples of src {} are {}",
                                            to_string(grad), to_string(src), to_string(dst)));
  return RoiAlignBackward::Problem{.roi = roi};
}

Types infer_backward(const NodeView& view) {
  ORRERY_TRY(problem_of_backward(view));
  return std::vector{*view.inputs[kSampled]};
}

/// Four multiply-adds a sample; of the largest one sample a cell, after all were mixed to find it.
Cost cost_backward(const NodeView& view, const Bindings& bindings) {
  const bool largest = text(*view.attributes, "mode") == "max";
  double moved = bytes(*view.outputs[0], bindings) + bytes(*view.inputs[kGradDst], bindings) +
                 bytes(*view.inputs[kBoxesOfGrad], bindings);
  if (largest) moved += bytes(*view.inputs[kSampled], bindings);
  const double cells = count(view.inputs[kGradDst]->shape, bindings);
  return {8 * cells * (samples_of(*view.attributes) + (largest ? 1 : 0)), moved};
}

Result<Lowered> lower_backward(LowerContext& context, const graph::Node& node) {
  RoiAlignBackward::Args args;
  ORRERY_ASSIGN(args.problem, problem_of_backward({.attributes = &node.attributes,
                                                   .inputs = {&context.type(node.inputs[kGradDst]),
                                                              &context.type(node.inputs[kSampled]),
                                                              &context.type(node.inputs[kBoxesOfGrad])},
                                                   .outputs = {}}));
  ORRERY_ASSIGN(const RowCount images, row_count(context, node, node.inputs[kSampled]));
  ORRERY_ASSIGN(const RowCount boxes, row_count(context, node, node.inputs[kBoxesOfGrad]));
  args.problem.boxes = bounds(context, boxes).max;
  ORRERY_ASSIGN(auto chosen, choose<RoiAlignBackward>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot grad_dst, elements_of(context, node.inputs[kGradDst]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[kSampled]));
  ORRERY_ASSIGN(const Slot box, elements_of(context, node.inputs[kBoxesOfGrad]));
  const Slot grad_src = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.images = images.at(step);
    call.boxes = boxes.at(step);
    call.grad_dst = step.address(grad_dst);
    call.src = step.address(src);
    call.box = static_cast<const float*>(step.address(box));
    call.grad_src = step.data<void>(grad_src);
    if (call.images > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

std::vector<AttributeSpec> roi_attributes() {
  return {{"output_height", "Cells of a box, down", {}, AttributeType::integer},
          {"output_width", "Cells of a box, across", {}, AttributeType::integer},
          {"spatial_scale", "From coordinates of boxes to those of src", Attribute(1.0)},
          {"sampling_ratio", "Samples of a cell each way; 0: as many as its size", Attribute(int64_t{0})},
          {"aligned", "Whether coordinates are of the corners of elements, not of their middles",
           Attribute(false)},
          {"mode", "average or max", Attribute(std::string("average"))}};
}

}  // namespace

OpSchema roi_align_op() {
  return {
      .name = "roi_align",
      .family = OpFamily::data_movement,
      .doc =
          "Samples a grid of cells from each box of an image; a box is image, x1, y1, x2, y2, and counts as "
          "fixed where gradients are drawn.",
      .inputs = {{"src"}, {"boxes"}},
      .outputs = {"dst"},
      .attributes = roi_attributes(),
      .infer = infer,
      .cost = cost,
      .gradient = gradient,
      .lowering = lowered_to<RoiAlign>(lower)};
}

OpSchema roi_align_backward_op() {
  return {.name = "roi_align_backward",
          .family = OpFamily::data_movement,
          .doc =
              "The gradient of roi_align by src: what comes back to each cell goes to the elements that its "
              "samples mixed. Boxes count as fixed.",
          .inputs = {{"grad_dst"}, {"src"}, {"boxes"}},
          .outputs = {"grad_src"},
          .attributes = roi_attributes(),
          .infer = infer_backward,
          .cost = cost_backward,
          .lowering = lowered_to<RoiAlignBackward>(lower_backward)};
}

}  // namespace orrery::ops
