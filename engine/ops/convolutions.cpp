// conv1d, conv2d, conv3d, and conv1d_transpose, conv2d_transpose, conv3d_transpose (kernels/convolution.h)
#include "engine/ops/gradients.h"
#include "engine/ops/window_support.h"
#include "kernels/convolution.h"

namespace orrery::ops {
namespace {

using kernels::Convolution;
using kernels::kSpatial;
enum Operand : size_t { kSrc, kWeight, kBias };

/// Which of the ops it is.
struct Form {
  int dims;
  bool transposed;

  std::string name() const { return fmt::format("conv{}d{}", dims, transposed ? "_transpose" : ""); }
};

const ValueType* bias_of(const NodeView& view) {
  return view.inputs.size() > kBias ? view.inputs[kBias] : nullptr;
}

Result<void> expect_weight(const Form& form, const NodeView& view) {
  ORRERY_TRY(expect_floats(view, kWeight, "weight"));
  const ValueType &src = *view.inputs[kSrc], &weight = *view.inputs[kWeight];
  const auto constant = [](const Dim& dim) { return dim.is_constant() && dim.constant() > 0; };
  if (weight.shape.size() != src.shape.size() || !std::ranges::all_of(weight.shape, constant))
    return mismatch(
        "weight",
        fmt::format("weight is {}, but src is {}; {} takes weight {} and {} fixed sizes "
                    "of a kernel",
                    to_string(weight), to_string(src), form.name(),
                    form.transposed ? "[channels, outputs / groups]" : "[outputs, channels / groups]",
                    form.dims));
  return {};
}

/// Channels of src and of dst, all groups together.
struct Channels {
  int64_t groups, src, dst;
};

Result<Channels> channels_of(const Form& form, const NodeView& view) {
  ORRERY_TRY(expect_positive(*view.attributes, "groups"));
  const ValueType &src = *view.inputs[kSrc], &weight = *view.inputs[kWeight];
  const int64_t rows = weight.shape[0].constant(), cols = weight.shape[1].constant();
  Channels channels{integer(*view.attributes, "groups"), src.shape[1].constant(), rows};
  if (form.transposed) {
    const auto all = product(cols, channels.groups);
    if (rows != channels.src || channels.src % channels.groups != 0 || !all)
      return mismatch(
          "weight", fmt::format("weight is {}, but src is {}; its first dim must be the {} channels of src, "
                                "a multiple of {} groups",
                                to_string(weight), to_string(src), channels.src, channels.groups));
    channels.dst = *all;
  } else if (channels.src % channels.groups != 0 || cols != channels.src / channels.groups ||
             rows % channels.groups != 0) {
    return mismatch("weight",
                    fmt::format("weight is {}, but src is {}; {} channels of src in {} groups need weight "
                                "[multiple of {}, {}, kernel]",
                                to_string(weight), to_string(src), channels.src, channels.groups,
                                channels.groups, channels.src / channels.groups));
  }
  return channels;
}

Result<void> expect_bias(const NodeView& view, int64_t outputs) {
  const ValueType* bias = bias_of(view);
  if (bias == nullptr) return {};
  ORRERY_TRY(expect_floats(view, kBias, "bias"));
  if (bias->shape == Shape{outputs}) return {};
  return mismatch("bias", fmt::format("bias is {}, but weight is {}; dst has {} channels", to_string(*bias),
                                      to_string(*view.inputs[kWeight]), outputs));
}

/// The problem but for its batch.
Result<Convolution::Problem> problem_of(const Form& form, const NodeView& view) {
  ORRERY_TRY(expect_image(view, "src", form.dims, form.name()));
  ORRERY_TRY(expect_weight(form, view));
  ORRERY_ASSIGN(const Channels channels, channels_of(form, view));
  ORRERY_TRY(expect_bias(view, channels.dst));
  const ValueType &src = *view.inputs[kSrc], &weight = *view.inputs[kWeight];
  Convolution::Problem problem;
  problem.src = src.dtype;
  problem.weight = weight.dtype;
  ORRERY_ASSIGN(problem.dst, promote(view, kSrc, "src", kWeight, "weight"));
  problem.bias = bias_of(view) ? bias_of(view)->dtype : problem.dst;
  problem.transposed = form.transposed;
  problem.groups = channels.groups;
  problem.channels = channels.src / channels.groups;
  problem.outputs = channels.dst / channels.groups;
  spatial_sizes(src, form.dims, problem.src_size);
  std::vector<int64_t> kernel;
  for (size_t d = 2; d < weight.shape.size(); ++d) kernel.push_back(weight.shape[d].constant());
  ORRERY_ASSIGN(const NodeWindow node, window_of(*view.attributes, kernel));
  problem.window = node.window;
  std::vector<int64_t> more(kernel.size(), 0);
  if (form.transposed) {
    ORRERY_ASSIGN(more, per_dim(*view.attributes, "output_padding", form.dims, 0, 0));
  }
  for (int spatial = 0; spatial < form.dims; ++spatial) {
    const int d = node.at(spatial);
    const int64_t extent = node.window.extent(d), padding = node.window.padding[d] + node.after[d];
    const int64_t stride = node.window.stride[d], extra = more[static_cast<size_t>(spatial)];
    if (form.transposed && extra > 0 && extra >= std::max(stride, node.window.dilation[d]))
      return bad_attribute(
          fmt::format("output_padding is {}; it must be less than the stride {} or the dilation {}", extra,
                      stride, node.window.dilation[d]));
    const int64_t room = problem.src_size[d] + padding - extent;
    const int64_t size = form.transposed ? (problem.src_size[d] - 1) * stride + extent - padding + extra
                         : room < 0      ? 0
                                         : room / stride + 1;
    if (size < 1)
      return mismatch("weight",
                      fmt::format("weight is {}, but src is {}; with padding, {} spans {} of dim {} of src, "
                                  "which has {} and {} around it, so dst would be empty",
                                  to_string(weight), to_string(src), form.name(), extent, 2 + spatial,
                                  problem.src_size[d], padding));
    problem.dst_size[d] = size;
  }
  return problem;
}

Types infer(const Form& form, const NodeView& view) {
  ORRERY_ASSIGN(const Convolution::Problem problem, problem_of(form, view));
  ValueType dst{problem.dst, {view.inputs[kSrc]->shape[0], problem.groups * problem.outputs}};
  for (int d = kSpatial - form.dims; d < kSpatial; ++d) dst.shape.emplace_back(problem.dst_size[d]);
  return std::vector{std::move(dst)};
}

/// A multiply-add for each weight that an element of dst (of a transpose, of src) is multiplied with.
Cost cost(const Form& form, const NodeView& view, const Bindings& bindings) {
  const ValueType& weight = *view.inputs[kWeight];
  const double outputs = count(view.outputs[0]->shape, bindings);
  const double spread = form.transposed ? count(view.inputs[kSrc]->shape, bindings) : outputs;
  const double each = count(weight.shape, {}) / static_cast<double>(weight.shape[0].constant());
  return {2 * spread * each + (bias_of(view) ? outputs : 0),
          bytes(*view.inputs[kSrc], bindings) + bytes(weight, bindings) + bytes(bias_of(view), bindings) +
              bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(const Form& form, LowerContext& context, const graph::Node& node) {
  NodeView view{.attributes = &node.attributes, .inputs = {}, .outputs = {}};
  for (const ValueId input : node.inputs)
    view.inputs.push_back(input.valid() ? &context.type(input) : nullptr);
  Convolution::Args args;
  ORRERY_ASSIGN(args.problem, problem_of(form, view));
  ORRERY_ASSIGN(const RowCount batch, row_count(context, node, node.inputs[kSrc]));
  args.problem.batch = bounds(context, batch).max;
  ORRERY_ASSIGN(auto chosen, choose<Convolution>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[kSrc]));
  ORRERY_ASSIGN(const Slot weight, elements_of(context, node.inputs[kWeight]));
  Slot bias;
  if (bias_of(view)) {
    ORRERY_ASSIGN(bias, elements_of(context, node.inputs[kBias]));
  }
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.problem.batch = batch.at(step);
    call.src = step.address(src);
    call.weight = step.address(weight);
    call.bias = step.address(bias);
    call.dst = step.data<void>(dst);
    if (call.problem.batch > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

// ---- gradients ----

/// `src` cropped to the spatial sizes of `shape`.
Term cut_to(const Term& src, const Shape& shape) {
  if (!src) return src;
  std::vector<int64_t> axes, starts, stops;
  for (size_t d = 2; d < shape.size(); ++d)
    if (src.type().shape[d] != shape[d]) {
      axes.push_back(static_cast<int64_t>(d));
      starts.push_back(0);
      stops.push_back(shape[d].constant());
    }
  if (axes.empty()) return src;
  return apply("slice", src,
               {{"axes", std::move(axes)}, {"starts", std::move(starts)}, {"stops", std::move(stops)}});
}

/// A convolution's is the transposed convolution with the same weight, and the other way round. Elements
/// past the last window are in no window: their gradient is 0.
Term gradient_of_src(Gradients& at, const Form& form) {
  const ValueType &src = at.input(kSrc).type(), &dst = at.gradient().type();
  Attributes attributes;
  for (const char* same : {"stride", "padding", "dilation", "groups"})
    attributes[same] = at.attributes().at(same);
  const Form other{form.dims, !form.transposed};
  if (form.transposed)
    return cut_to(at.apply(other.name(), {at.gradient(), at.input(kWeight)}, attributes), src.shape);
  std::vector<int64_t> kernel, behind;
  const Shape& weight = at.input(kWeight).type().shape;
  for (size_t d = 2; d < weight.size(); ++d) kernel.push_back(weight[d].constant());
  const auto node = window_of(at.attributes(), kernel);
  if (!node.ok()) {
    at.refuse(node.error().what);
    return {};
  }
  for (int spatial = 0; spatial < form.dims; ++spatial) {
    const int d = node->at(spatial);
    const auto place = static_cast<size_t>(2 + spatial);
    behind.push_back(src.shape[place].constant() + node->window.padding[d] + node->after[d] -
                     node->window.extent(d) - (dst.shape[place].constant() - 1) * node->window.stride[d]);
  }
  attributes["output_padding"] = std::move(behind);
  return at.apply(other.name(), {at.gradient(), at.input(kWeight)}, attributes);
}

/// A convolution of the larger side by the smaller one, in which images are the channels, stride and dilation
/// have changed places, and each group is convolved by itself:
///   dst[o, c, k] = sum over images n and places t of small[n, o, t] large[n, group c, t stride + k dilation]
Term gradient_of_weight(Gradients& at, const Form& form) {
  const Term large = form.transposed ? at.gradient() : at.input(kSrc),
             small = form.transposed ? at.input(kSrc) : at.gradient();
  const Shape &of_large = large.type().shape, &weight = at.input(kWeight).type().shape;
  if (!of_large[0].is_constant()) {
    at.refuse("how many images there are differs from step to step, and its weight sums over them",
              "give src a fixed first dim, or differentiate with respect to src only");
    return {};
  }
  const int64_t images = of_large[0].constant(), groups = integer(at.attributes(), "groups"),
                channels = of_large[1].constant() / groups;
  Shape parts{images, groups, channels}, folded{channels, groups * images};
  std::vector<int64_t> channels_first{2, 1, 0}, outputs_first{1, 0};
  for (size_t d = 2; d < of_large.size(); ++d) {
    parts.push_back(of_large[d]);
    folded.push_back(of_large[d]);
    channels_first.push_back(static_cast<int64_t>(d) + 1);
    outputs_first.push_back(static_cast<int64_t>(d));
  }
  const Attributes attributes{{"stride", at.attributes().at("dilation")},
                              {"dilation", at.attributes().at("stride")},
                              {"padding", at.attributes().at("padding")},
                              {"groups", groups}};
  const Term made = at.apply(
      Form{form.dims, false}.name(),
      {reshaped(transpose(reshaped(large, parts), channels_first), folded), transpose(small, outputs_first)},
      attributes);
  if (!made) return {};
  return cut_to(transpose(made, outputs_first), weight);
}

void gradient(Gradients& at, const Form& form) {
  if (at.wants(kSrc)) at.give(kSrc, gradient_of_src(at, form));
  if (at.wants(kWeight)) at.give(kWeight, gradient_of_weight(at, form));
  if (!at.wants(kBias)) return;
  std::vector<int64_t> spatial;
  for (int d = 0; d < form.dims; ++d) spatial.push_back(2 + d);
  at.give(kBias, sum(sum(at.gradient(), std::move(spatial), false), {0}, false));
}

OpSchema convolution_op(const Form& form) {
  std::vector<AttributeSpec> attributes = window_attributes(
      form.transposed ? "From one element of src to the next, in places of dst: one number, or one for each "
                        "spatial dim"
                      : "From one window to the next: one number, or one for each spatial dim");
  attributes.push_back(
      {"groups", "Groups of channels, each of which is convolved by itself", Attribute(int64_t{1})});
  if (form.transposed)
    attributes.push_back({"output_padding",
                          "Places more at the end of dst: one number, or one for each spatial dim",
                          Attribute(std::vector<int64_t>{0})});
  const std::string dims = fmt::format("{} spatial {}", form.dims, form.dims == 1 ? "dim" : "dims");
  return {
      .name = form.name(),
      .family = OpFamily::linear,
      .doc = form.transposed
                 ? "Transpose of a convolution over " + dims + ": spreads each element by a kernel."
                 : "Convolution of channels over " + dims + " with a kernel.",
      .inputs = {{"src"}, {"weight"}, {.name = "bias", .optional = true}},
      .outputs = {"dst"},
      .attributes = std::move(attributes),
      .infer = [form](const NodeView& view) { return infer(form, view); },
      .cost = [form](const NodeView& view, const Bindings& bindings) { return cost(form, view, bindings); },
      .gradient = [form](Gradients& at) { gradient(at, form); },
      .lowering = lowered_to<Convolution>(
          [form](LowerContext& context, const graph::Node& node) { return lower(form, context, node); })};
}

}  // namespace

OpSchema conv1d_op() { return convolution_op({1, false}); }
OpSchema conv2d_op() { return convolution_op({2, false}); }
OpSchema conv3d_op() { return convolution_op({3, false}); }
OpSchema conv1d_transpose_op() { return convolution_op({1, true}); }
OpSchema conv2d_transpose_op() { return convolution_op({2, true}); }
OpSchema conv3d_transpose_op() { return convolution_op({3, true}); }

}  // namespace orrery::ops
