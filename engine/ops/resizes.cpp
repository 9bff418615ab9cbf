// resize_nearest, resize_linear, resize_bicubic, resize, which names one of them, and resize_backward
// (kernels/resize.h)
#include "engine/ops/gradients.h"
#include "engine/ops/window_support.h"
#include "kernels/resize.h"

namespace orrery::ops {
namespace {

using kernels::kSpatial;
using kernels::Resize;
using kernels::ResizeBackward;
using Function = Resize::Function;

constexpr std::string_view kCoordinates[] = {"half_pixel", "half_pixel_1d", "align_corners", "asymmetric"};
constexpr std::string_view kRoundings[] = {"half_down", "half_up", "floor", "ceil"};
constexpr std::string_view kModes[] = {"nearest", "linear", "bicubic"};

size_t place_in(std::span<const std::string_view> names, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
}

/// The function of an op; of `resize`, the one that its mode names.
Result<Function> function_of(std::optional<Function> fixed, const Attributes& attributes) {
  if (fixed) return *fixed;
  ORRERY_TRY(expect_choice(attributes, "mode", kModes));
  return static_cast<Function>(place_in(kModes, text(attributes, "mode")));
}

/// A problem but for its planes, and how many last dims of src it is about.
struct Resized {
  Resize::Problem problem;
  int dims = 0;
};

/// The dims of src that become others, the last one at least, from the first that does.
Result<Resized> resized(std::optional<Function> fixed, const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  const Attributes& attributes = *view.attributes;
  Resized made;
  ORRERY_ASSIGN(made.problem.function, function_of(fixed, attributes));
  ORRERY_TRY(expect_choice(attributes, "coordinates", kCoordinates));
  made.problem.coordinates =
      static_cast<Resize::Coordinates>(place_in(kCoordinates, text(attributes, "coordinates")));
  if (attributes.contains("rounding")) {
    ORRERY_TRY(expect_choice(attributes, "rounding", kRoundings));
    made.problem.rounded = static_cast<Resize::Rounded>(place_in(kRoundings, text(attributes, "rounding")));
  }
  if (attributes.contains("coefficient"))
    made.problem.cubic = static_cast<float>(real(attributes, "coefficient"));
  const ValueType& src = *view.inputs[0];
  made.problem.dtype = src.dtype;
  const std::vector<int64_t> size = list(attributes, "size");
  if (size.empty() || size.size() > src.shape.size())
    return mismatch("src", fmt::format("size has {} numbers, but src is {}; it must have one for each of the "
                                       "last dims that are resized",
                                       size.size(), to_string(src)));
  if (std::ranges::any_of(size, [](int64_t each) { return each < 1; }))
    return bad_attribute(fmt::format("size is {}; each must be 1 or more", fmt::join(size, ", ")));
  const size_t first = src.shape.size() - size.size();
  size_t from = 0;
  while (from + 1 < size.size() && src.shape[first + from] == Dim(size[from])) ++from;
  made.dims = static_cast<int>(size.size() - from);
  if (made.dims > kSpatial)
    return mismatch("src",
                    fmt::format("size {} changes {} dims of src {} or those between; kernels resize the "
                                "last {}: resize one after the other",
                                fmt::join(size, ", "), made.dims, to_string(src), kSpatial));
  for (size_t d = from; d < size.size(); ++d) {
    const Dim& dim = src.shape[first + d];
    if (!dim.is_constant())
      return mismatch("src", fmt::format("dim {} of src {} differs from step to step; only fixed sizes are "
                                         "resized",
                                         first + d, to_string(src)));
    const auto at = kSpatial - size.size() + d;
    made.problem.src_size[at] = dim.constant();
    made.problem.dst_size[at] = size[d];
  }
  return made;
}

Types infer(std::optional<Function> fixed, const NodeView& view) {
  ORRERY_ASSIGN(const Resized made, resized(fixed, view));
  ValueType dst = *view.inputs[0];
  for (int d = 0; d < made.dims; ++d)
    dst.shape[dst.shape.size() - static_cast<size_t>(d) - 1] = made.problem.dst_size[kSpatial - d - 1];
  return std::vector{std::move(dst)};
}

/// A multiply-add a tap, in the dims that change.
Cost cost(std::optional<Function> fixed, const NodeView& view, const Bindings& bindings) {
  double taps = 1;
  if (const auto made = resized(fixed, view); made.ok())
    for (int d = 0; d < kSpatial; ++d)
      if (made->problem.src_size[d] != made->problem.dst_size[d])
        taps *= kernels::taps_of(made->problem.function);
  return {taps == 1 ? 0 : 2 * taps * count(view.outputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

/// Planes of a step by a row of `Op`, a resize or its gradients; bind(call, what is read, what is written).
template <class Op, class Bind>
Result<Lowered> lower_planes(LowerContext& context, const graph::Node& node, const Resized& made, Bind bind) {
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  typename Op::Args args;
  args.problem = made.problem;
  const int planes = shape.rank - made.dims;
  for (int d = 0; d < planes; ++d)
    args.problem.planes *= bounds(context, shape.extents[static_cast<size_t>(d)]).max;
  ORRERY_ASSIGN(auto chosen, choose<Op>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot read, elements_of(context, node.inputs[0]));
  const Slot written = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.problem.planes = shape.product(step, 0, planes);
    bind(call, step.address(read), step.data<void>(written));
    if (call.problem.planes > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower(std::optional<Function> fixed, LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  ORRERY_ASSIGN(const Resized made,
                resized(fixed, {.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  return lower_planes<Resize>(context, node, made, [](Resize::Args& call, const void* src, void* dst) {
    call.src = src;
    call.dst = dst;
  });
}

/// The attributes of the op that names its function, of a node of one of the ops.
Attributes named_attributes(std::optional<Function> fixed, Attributes attributes) {
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  if (fixed) attributes.insert_or_assign("mode", std::string(kModes[static_cast<size_t>(*fixed)]));
  return attributes;
}

/// The last dims of a value, which are fixed, of which there are as many as sizes.
std::vector<int64_t> last_sizes(const Shape& shape, size_t many) {
  std::vector<int64_t> sizes;
  for (size_t d = shape.size() - many; d < shape.size(); ++d) sizes.push_back(shape[d].constant());
  return sizes;
}

void gradient(Gradients& at, std::optional<Function> fixed) {
  Attributes attributes = named_attributes(fixed, at.attributes());
  const size_t many = list(attributes, "size").size();
  attributes.insert_or_assign("size", last_sizes(at.input(0).type().shape, many));
  at.give(0, at.apply("resize_backward", {at.gradient()}, std::move(attributes)));
}

// ---- resize_backward ----

/// The resize that it is the gradient of: its src, and its attributes.
struct Reversed {
  ValueType src;
  Attributes attributes;
};

Result<Reversed> reversed(const Attributes& attributes, const ValueType& grad) {
  const std::vector<int64_t> size = list(attributes, "size");
  if (size.empty() || size.size() > grad.shape.size())
    return mismatch("grad_dst",
                    fmt::format("size has {} numbers, but grad_dst is {}; it must have one for each "
                                "of the last dims of src",
                                size.size(), to_string(grad)));
  Reversed made{grad, attributes};
  const size_t first = grad.shape.size() - size.size();
  for (size_t d = first; d < grad.shape.size(); ++d) {
    if (!grad.shape[d].is_constant())
      return mismatch("grad_dst", fmt::format("dim {} of grad_dst {} differs from step to step; only fixed "
                                              "sizes are resized",
                                              d, to_string(grad)));
    made.src.shape[d] = Dim(size[d - first]);
  }
  made.attributes.insert_or_assign("size", last_sizes(grad.shape, size.size()));
  return made;
}

Result<Resized> resized_back(const Attributes& attributes, const ValueType& grad) {
  ORRERY_ASSIGN(const Reversed made, reversed(attributes, grad));
  return resized(std::nullopt, {.attributes = &made.attributes, .inputs = {&made.src}, .outputs = {}});
}

Types infer_backward(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "grad_dst"));
  for (const int64_t each : list(*view.attributes, "size"))
    if (each < 1) return bad_attribute(fmt::format("size has {}; each must be 1 or more", each));
  ORRERY_ASSIGN(const Reversed made, reversed(*view.attributes, *view.inputs[0]));
  ORRERY_TRY(resized_back(*view.attributes, *view.inputs[0]));
  return std::vector{made.src};
}

/// A multiply-add a tap.
Cost cost_backward(const NodeView& view, const Bindings& bindings) {
  double taps = 1;
  if (const auto made = resized_back(*view.attributes, *view.inputs[0]); made.ok())
    for (int d = 0; d < kSpatial; ++d)
      if (made->problem.src_size[d] != made->problem.dst_size[d])
        taps *= kernels::taps_of(made->problem.function);
  return {2 * taps * count(view.inputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower_backward(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const Resized made, resized_back(node.attributes, context.type(node.inputs[0])));
  return lower_planes<ResizeBackward>(context, node, made,
                                      [](ResizeBackward::Args& call, const void* grad_dst, void* grad_src) {
                                        call.grad_dst = grad_dst;
                                        call.grad_src = grad_src;
                                      });
}

/// It is linear: its gradient is the resize.
void gradient_of_backward(Gradients& at) {
  Attributes attributes = named_attributes(std::nullopt, at.attributes());
  const size_t many = list(attributes, "size").size();
  attributes.insert_or_assign("size", last_sizes(at.input(0).type().shape, many));
  at.give(0, at.apply("resize", {at.gradient()}, std::move(attributes)));
}

std::vector<AttributeSpec> resize_attributes(std::optional<Function> fixed, std::string size) {
  std::vector<AttributeSpec> attributes = {{"size", std::move(size), {}, AttributeType::list}};
  if (!fixed) attributes.push_back({"mode", "nearest, linear or bicubic", Attribute(std::string("nearest"))});
  attributes.push_back({"coordinates",
                        "Where a place lies among the elements of src: half_pixel, half_pixel_1d (0 where "
                        "there is one place), align_corners or asymmetric",
                        Attribute(std::string("half_pixel"))});
  if (!fixed || *fixed == Function::nearest)
    attributes.push_back({"rounding", "How the nearest is found: half_down, half_up, floor or ceil",
                          Attribute(std::string("half_down"))});
  if (!fixed || *fixed == Function::cubic)
    attributes.push_back({"coefficient", "The a of the cubic kernel", Attribute(-0.75)});
  return attributes;
}

/// Without a function it is `resize`.
OpSchema resize_op_of(std::optional<Function> fixed) {
  const std::string mode = fixed ? std::string(kModes[static_cast<size_t>(*fixed)]) : "";
  return {
      .name = fixed ? "resize_" + mode : "resize",
      .family = OpFamily::data_movement,
      .doc = fixed ? "Other sizes of the last dims, by " +
                         (*fixed == Function::nearest ? "nearest elements." : mode + " interpolation.")
                   : "Other sizes of the last dims, by nearest elements or by interpolation.",
      .inputs = {{"src"}},
      .outputs = {"dst"},
      .attributes = resize_attributes(fixed, "Sizes of the last dims"),
      .infer = [fixed](const NodeView& view) { return infer(fixed, view); },
      .cost = [fixed](const NodeView& view, const Bindings& bindings) { return cost(fixed, view, bindings); },
      .gradient = [fixed](Gradients& at) { gradient(at, fixed); },
      .lowering = lowered_to<Resize>(
          [fixed](LowerContext& context, const graph::Node& node) { return lower(fixed, context, node); })};
}

}  // namespace

OpSchema resize_op() { return resize_op_of(std::nullopt); }
OpSchema resize_nearest_op() { return resize_op_of(Function::nearest); }
OpSchema resize_linear_op() { return resize_op_of(Function::linear); }
OpSchema resize_bicubic_op() { return resize_op_of(Function::cubic); }
OpSchema resize_backward_op() {
  return {
      .name = "resize_backward",
      .family = OpFamily::data_movement,
      .doc = "The gradient of a resize: what comes back to each place goes to its taps, by their weights.",
      .inputs = {{"grad_dst"}},
      .outputs = {"grad_src"},
      .attributes = resize_attributes(std::nullopt, "Sizes of the last dims of what was resized"),
      .infer = infer_backward,
      .cost = cost_backward,
      .gradient = gradient_of_backward,
      .lowering = lowered_to<ResizeBackward>(lower_backward)};
}

}  // namespace orrery::ops
