// max_pool1d, max_pool2d, max_pool3d, their max_pool_backward, and avg_pool1d, avg_pool2d, avg_pool3d
// (kernels/pooling.h)
#include "engine/ops/gradients.h"
#include "engine/ops/window_support.h"
#include "kernels/pooling.h"

namespace orrery::ops {
namespace {

using kernels::kSpatial;
using kernels::Pooling;
using kernels::PoolingBackward;
using Function = Pooling::Function;

/// Which of the ops it is.
struct PoolForm {
  Function function;
  int dims;

  std::string name() const {
    return fmt::format("{}_pool{}d", function == Function::max ? "max" : "avg", dims);
  }
};

/// Windows of a dim: as many as fit; rounded up, those that begin in src or before it too.
int64_t windows_of(int64_t size, int64_t before, int64_t after, int64_t extent, int64_t stride, bool up) {
  const int64_t room = size + before + after - extent;
  if (room < 0) return 0;
  int64_t windows = (room + (up ? stride - 1 : 0)) / stride + 1;
  if (up && (windows - 1) * stride >= size + before) --windows;
  return windows;
}

/// The problem but for its planes.
Result<Pooling::Problem> problem_of(const PoolForm& form, const NodeView& view) {
  ORRERY_TRY(expect_image(view, "src", form.dims, form.name()));
  const ValueType& src = *view.inputs[0];
  ORRERY_ASSIGN(const std::vector<int64_t> kernel, per_dim(*view.attributes, "kernel", form.dims, 0, 1));
  ORRERY_ASSIGN(const NodeWindow node, window_of(*view.attributes, kernel));
  Pooling::Problem problem;
  problem.function = form.function;
  problem.dtype = src.dtype;
  problem.counts_padding = form.function == Function::average && flag(*view.attributes, "count_include_pad");
  problem.window = node.window;
  spatial_sizes(src, form.dims, problem.src_size);
  for (int d = kSpatial - form.dims; d < kSpatial; ++d) {
    problem.after[d] = node.after[d];
    const int64_t extent = node.window.extent(d);
    problem.dst_size[d] = windows_of(problem.src_size[d], node.window.padding[d], node.after[d], extent,
                                     node.window.stride[d], flag(*view.attributes, "ceil_mode"));
    if (problem.dst_size[d] < 1)
      return mismatch(
          "src", fmt::format("src is {}, but a window of kernel {} spans {} of dim {}, which has {} and {} "
                             "around it, so dst would be empty",
                             to_string(src), fmt::join(kernel, ", "), extent, d - kSpatial + form.dims + 2,
                             problem.src_size[d], node.window.padding[d] + node.after[d]));
  }
  return problem;
}

Types infer(const PoolForm& form, const NodeView& view) {
  ORRERY_ASSIGN(const Pooling::Problem problem, problem_of(form, view));
  ValueType dst = *view.inputs[0];
  for (int d = 0; d < form.dims; ++d)
    dst.shape[static_cast<size_t>(2 + d)] = problem.dst_size[kSpatial - form.dims + d];
  return std::vector{std::move(dst)};
}

/// An addition or a comparison a tap.
Cost cost(const PoolForm& form, const NodeView& view, const Bindings& bindings) {
  double taps = 1;
  if (const auto kernel = per_dim(*view.attributes, "kernel", form.dims, 0, 1); kernel.ok())
    for (const int64_t each : *kernel) taps *= static_cast<double>(each);
  return {taps * count(view.outputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(const PoolForm& form, LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  Pooling::Args args;
  ORRERY_ASSIGN(args.problem,
                problem_of(form, {.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  const int64_t channels = type.shape[1].constant();
  args.problem.planes = bounds(context, shape.extents[0]).max * channels;
  ORRERY_ASSIGN(auto chosen, choose<Pooling>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.problem.planes = shape.product(step, 0, 2);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.problem.planes > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// How many taps the mean at each place is of, as an image of one channel.
Term taps_of_places(Gradients& at, const Pooling::Problem& problem, const Shape& dst) {
  const auto inside = [&](int d, int64_t place) {
    if (problem.counts_padding) return taps_inside(problem, d, place);
    int64_t taps = 0;
    for (int64_t k = 0; k < problem.window.kernel[d]; ++k)
      taps += problem.window.reads(d, place, k, problem.src_size[d]) >= 0 ? 1 : 0;
    return taps;
  };
  std::vector<double> taps;
  for (int64_t z = 0; z < problem.dst_size[0]; ++z)
    for (int64_t y = 0; y < problem.dst_size[1]; ++y)
      for (int64_t x = 0; x < problem.dst_size[2]; ++x)
        taps.push_back(static_cast<double>(std::max<int64_t>(inside(0, z) * inside(1, y) * inside(2, x), 1)));
  Shape shape = dst;
  shape[0] = shape[1] = Dim(1);
  return at.constant({DType::f32, std::move(shape)}, std::move(taps));
}

/// Of a mean: each place's share, given back to what its window reads by a transposed convolution of every
/// channel by itself with ones.
void gradient(Gradients& at, const PoolForm& form) {
  const ValueType src = at.input(0).type(), dst = at.gradient().type();
  const auto problem = problem_of(form, {.attributes = &at.attributes(), .inputs = {&src}, .outputs = {}});
  if (!problem.ok()) return at.refuse(problem.error().what);
  const kernels::Window& window = problem->window;
  const int64_t channels = src.shape[1].constant();
  Shape kernel{channels, 1};
  std::vector<int64_t> stride, dilation, padding, behind;
  for (int d = kSpatial - form.dims; d < kSpatial; ++d) {
    kernel.emplace_back(window.kernel[d]);
    stride.push_back(window.stride[d]);
    dilation.push_back(window.dilation[d]);
    const int64_t end = (problem->dst_size[d] - 1) * window.stride[d] + window.extent(d) - window.padding[d] -
                        problem->src_size[d];  // how far the last window reaches behind src
    padding.insert(padding.end(), {window.padding[d], std::max<int64_t>(end, 0)});
    behind.push_back(std::max<int64_t>(-end, 0));
  }
  at.give(0, at.apply(fmt::format("conv{}d_transpose", form.dims),
                      {at.gradient() / taps_of_places(at, *problem, dst.shape),
                       at.constant({DType::f32, std::move(kernel)}, {}, 1)},
                      {{"stride", std::move(stride)},
                       {"dilation", std::move(dilation)},
                       {"padding", std::move(padding)},
                       {"output_padding", std::move(behind)},
                       {"groups", channels}}));
}

/// Of the largest, by max_pool_backward.
void gradient_of_max(Gradients& at) {
  Attributes attributes = at.attributes();
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  at.give(0, at.apply("max_pool_backward", {at.gradient(), at.input(0)}, std::move(attributes)));
}

std::vector<AttributeSpec> pool_attributes() {
  std::vector<AttributeSpec> attributes = {
      {"kernel", "Taps of a window: one number, or one for each spatial dim", {}, AttributeType::list}};
  for (AttributeSpec& spec :
       window_attributes("From one window to the next: one number, or one for each spatial dim"))
    attributes.push_back(std::move(spec));
  attributes.push_back({"ceil_mode", "Whether a last window may reach beyond the padding", Attribute(false)});
  return attributes;
}

// ---- max_pool_backward ----

enum BackwardInput : size_t { kGradDst, kPooled };

/// The pool that it is the gradient of: its dims are those of src after the channels.
Result<Pooling::Problem> pooled(const Attributes& attributes, const ValueType& src) {
  const auto dims = static_cast<int>(src.shape.size()) - 2;
  if (dims < 1 || dims > kSpatial)
    return mismatch("src",
                    fmt::format("src is {}; it must be [n, channels, spatial], of one to {} spatial dims",
                                to_string(src), kSpatial));
  return problem_of({Function::max, dims}, {.attributes = &attributes, .inputs = {&src}, .outputs = {}});
}

Types infer_backward(const NodeView& view) {
  const ValueType &grad = *view.inputs[kGradDst], &src = *view.inputs[kPooled];
  ORRERY_ASSIGN(const Pooling::Problem problem, pooled(*view.attributes, src));
  ValueType dst = src;
  for (size_t d = 2; d < src.shape.size(); ++d)
    dst.shape[d] = problem.dst_size[kSpatial - src.shape.size() + d];
  if (grad != dst)
    return mismatch("grad_dst", fmt::format("grad_dst is {}, but the pool of src {} is {}", to_string(grad),
                                            to_string(src), to_string(dst)));
  return std::vector{src};
}

/// A comparison and an addition a tap.
Cost cost_backward(const NodeView& view, const Bindings& bindings) {
  double taps = 1;
  if (const auto problem = pooled(*view.attributes, *view.inputs[kPooled]); problem.ok())
    taps = static_cast<double>(problem->window.taps());
  return {2 * taps * count(view.inputs[kGradDst]->shape, bindings),
          bytes(*view.inputs[kGradDst], bindings) + 2 * bytes(*view.inputs[kPooled], bindings)};
}

Result<Lowered> lower_backward(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[kPooled]);
  PoolingBackward::Args args;
  ORRERY_ASSIGN(args.problem, pooled(node.attributes, type));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[kPooled]));
  args.problem.planes = bounds(context, shape.extents[0]).max * type.shape[1].constant();
  ORRERY_ASSIGN(auto chosen, choose<PoolingBackward>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot grad_dst, elements_of(context, node.inputs[kGradDst]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[kPooled]));
  const Slot grad_src = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.problem.planes = shape.product(step, 0, 2);
    call.grad_dst = step.address(grad_dst);
    call.src = step.address(src);
    call.grad_src = step.data<void>(grad_src);
    if (call.problem.planes > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

OpSchema pool_op(const PoolForm& form) {
  std::vector<AttributeSpec> attributes = pool_attributes();
  if (form.function == Function::average)
    attributes.push_back(
        {"count_include_pad", "Whether places of the padding count as zeros", Attribute(true)});
  OpSchema op = {
      .name = form.name(),
      .family = OpFamily::elementwise,
      .doc = fmt::format("The {} of each window of a channel, over {} spatial {}.",
                         form.function == Function::max ? "largest element, where NaN wins," : "mean",
                         form.dims, form.dims == 1 ? "dim" : "dims"),
      .inputs = {{"src"}},
      .outputs = {"dst"},
      .attributes = std::move(attributes),
      .infer = [form](const NodeView& view) { return infer(form, view); },
      .cost = [form](const NodeView& view, const Bindings& bindings) { return cost(form, view, bindings); },
      .lowering = lowered_to<Pooling>(
          [form](LowerContext& context, const graph::Node& node) { return lower(form, context, node); })};
  if (form.function == Function::average)
    op.gradient = [form](Gradients& at) { gradient(at, form); };
  else
    op.gradient = gradient_of_max;
  return op;
}

}  // namespace

OpSchema max_pool1d_op() { return pool_op({Function::max, 1}); }
OpSchema max_pool2d_op() { return pool_op({Function::max, 2}); }
OpSchema max_pool3d_op() { return pool_op({Function::max, 3}); }
OpSchema max_pool_backward_op() {
  return {
      .name = "max_pool_backward",
      .family = OpFamily::elementwise,
      .doc = "The gradient of a max_pool: what comes back to each window goes to the first of its largest.",
      .inputs = {{"grad_dst"}, {"src"}},
      .outputs = {"grad_src"},
      .attributes = pool_attributes(),
      .infer = infer_backward,
      .cost = cost_backward,
      .lowering = lowered_to<PoolingBackward>(lower_backward)};
}
OpSchema avg_pool1d_op() { return pool_op({Function::average, 1}); }
OpSchema avg_pool2d_op() { return pool_op({Function::average, 2}); }
OpSchema avg_pool3d_op() { return pool_op({Function::average, 3}); }

}  // namespace orrery::ops
