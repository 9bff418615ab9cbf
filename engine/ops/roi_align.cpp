// roi_align: fixed grids of samples from boxes of images (kernels/roi_align.h)
#include "kernels/roi_align.h"

#include <cmath>

#include "engine/ops/window_support.h"

namespace orrery::ops {
namespace {

using kernels::RoiAlign;
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

/// Four multiply-adds a sample; where boxes say how many there are, four a cell.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const auto asked = static_cast<double>(integer(*view.attributes, "sampling_ratio"));
  const double samples = asked > 0 ? asked * asked : 4;
  const double cells = count(view.outputs[0]->shape, bindings);
  return {8 * samples * cells, bytes(*view.inputs[kSrc], bindings) + bytes(*view.inputs[kBoxes], bindings) +
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

}  // namespace

OpSchema roi_align_op() {
  return {
      .name = "roi_align",
      .family = OpFamily::data_movement,
      .doc = "Samples a grid of cells from each box of an image; a box is image, x1, y1, x2, y2.",
      .inputs = {{"src"}, {"boxes"}},
      .outputs = {"dst"},
      .attributes = {{"output_height", "Cells of a box, down", {}, AttributeType::integer},
                     {"output_width", "Cells of a box, across", {}, AttributeType::integer},
                     {"spatial_scale", "From coordinates of boxes to those of src", Attribute(1.0)},
                     {"sampling_ratio", "Samples of a cell each way; 0: as many as its size",
                      Attribute(int64_t{0})},
                     {"aligned", "Whether coordinates are of the corners of elements, not of their middles",
                      Attribute(false)},
                     {"mode", "average or max", Attribute(std::string("average"))}},
      .infer = infer,
      .cost = cost,
      .lowering = lowered_to<RoiAlign>(lower)};
}

}  // namespace orrery::ops
