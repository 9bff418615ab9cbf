// irfft: real signals of their spectra, along the last axis, and irfft_backward, its gradient
// (kernels/irfft.h)
#include "kernels/irfft.h"

#include <cmath>

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Irfft;
using kernels::IrfftBackward;
constexpr std::string_view kNormalisations[] = {"backward", "ortho", "forward"};

Result<Irfft::Problem> problem_of(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  const size_t rank = src.shape.size();
  if (rank < 2 || src.shape[rank - 1] != Dim(2) || !src.shape[rank - 2].is_constant())
    return mismatch("src", fmt::format("src is {}; irfft takes [.., bins, 2]: real and imaginary parts of a "
                                       "fixed number of bins",
                                       to_string(src)));
  ORRERY_TRY(expect_choice(*view.attributes, "normalization", kNormalisations));
  const int64_t bins = src.shape[rank - 2].constant(), asked = integer(*view.attributes, "n");
  const Irfft::Problem problem{
      .dtype = src.dtype, .bins = bins, .count = asked == 0 ? 2 * (bins - 1) : asked};
  if (problem.count < 1)
    return mismatch("src", fmt::format("n is {}, but src is {}; a signal of {} elements has no samples",
                                       asked, to_string(src), problem.count));
  return problem;
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Irfft::Problem problem, problem_of(view));
  ValueType dst = *view.inputs[0];
  dst.shape.pop_back();
  dst.shape.back() = problem.count;
  return std::vector{std::move(dst)};
}

/// As is usual for a real transform: 2.5 n log2 n.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double elements = count(view.outputs[0]->shape, bindings);
  const auto length = static_cast<double>(view.outputs[0]->shape.back().constant());
  return {2.5 * elements * std::log2(length),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

double scale_of(const Attributes& attributes, const Irfft::Problem& problem) {
  const auto n = static_cast<double>(problem.count);
  const std::string_view normalisation = text(attributes, "normalization");
  return normalisation == "backward" ? 1 / n : normalisation == "ortho" ? 1 / std::sqrt(n) : 1;
}

/// Rows of a step, whose last `dims` are of a row, by a row of `Op`, irfft or its gradient; bind(call, what
/// is read, what is written).
template <class Op, class Bind>
Result<Lowered> lower_rows(LowerContext& context, const graph::Node& node, const Irfft::Problem& problem,
                           int dims, Bind bind) {
  typename Op::Args args;
  args.problem = problem;
  args.scale = scale_of(node.attributes, problem);
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<Op>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.rows = shape.product(step, 0, shape.rank - dims);
    bind(call, step.address(src), step.data<void>(dst));
    if (call.rows > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  ORRERY_ASSIGN(const Irfft::Problem problem,
                problem_of({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  return lower_rows<Irfft>(context, node, problem, 2, [](Irfft::Args& call, const void* src, void* dst) {
    call.src = src;
    call.dst = dst;
  });
}

// ---- irfft_backward ----

Result<Irfft::Problem> problem_of_backward(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "grad_dst"));
  const ValueType& grad = *view.inputs[0];
  if (grad.shape.empty() || !grad.shape.back().is_constant() || grad.shape.back().constant() < 1)
    return mismatch("grad_dst",
                    fmt::format("grad_dst is {}; irfft_backward takes [.., n], signals of a fixed number of "
                                "elements",
                                to_string(grad)));
  ORRERY_TRY(expect_choice(*view.attributes, "normalization", kNormalisations));
  ORRERY_TRY(expect_positive(*view.attributes, "bins"));
  return Irfft::Problem{
      .dtype = grad.dtype, .bins = integer(*view.attributes, "bins"), .count = grad.shape.back().constant()};
}

Types infer_backward(const NodeView& view) {
  ORRERY_ASSIGN(const Irfft::Problem problem, problem_of_backward(view));
  ValueType spectrum = *view.inputs[0];
  spectrum.shape.back() = problem.bins;
  spectrum.shape.emplace_back(2);
  return std::vector{std::move(spectrum)};
}

/// That of irfft.
Cost cost_backward(const NodeView& view, const Bindings& bindings) {
  const double elements = count(view.inputs[0]->shape, bindings);
  const auto length = static_cast<double>(view.inputs[0]->shape.back().constant());
  return {2.5 * elements * std::log2(length),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower_backward(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  ORRERY_ASSIGN(const Irfft::Problem problem,
                problem_of_backward({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  return lower_rows<IrfftBackward>(context, node, problem, 1,
                                   [](IrfftBackward::Args& call, const void* grad_dst, void* grad_src) {
                                     call.grad_dst = grad_dst;
                                     call.grad_src = grad_src;
                                   });
}

void gradient(Gradients& at) {
  const Shape& spectrum = at.input(0).type().shape;
  at.give(0, at.apply("irfft_backward", {at.gradient()},
                      {{"bins", spectrum[spectrum.size() - 2].constant()},
                       {"normalization", std::string(text(at.attributes(), "normalization"))}}));
}

/// It is linear: its gradient is irfft.
void gradient_of_backward(Gradients& at) {
  at.give(0, at.apply("irfft", {at.gradient()},
                      {{"n", at.input(0).type().shape.back().constant()},
                       {"normalization", std::string(text(at.attributes(), "normalization"))}}));
}

AttributeSpec normalisation_attribute() {
  return {"normalization", "backward (1 / n), ortho (1 / sqrt(n)) or forward (none)",
          Attribute(std::string("backward"))};
}

}  // namespace

OpSchema irfft_op() {
  return {.name = "irfft",
          .family = OpFamily::linear,
          .doc = "Real signals of the non-negative half of their spectra, of any length.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"n", "Elements of a signal; 0: two for each bin after the first",
                          Attribute(int64_t{0})},
                         normalisation_attribute()},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<Irfft>(lower)};
}

OpSchema irfft_backward_op() {
  return {.name = "irfft_backward",
          .family = OpFamily::linear,
          .doc = "The gradient of irfft: sums of what comes back to a signal with the waves of each bin.",
          .inputs = {{"grad_dst"}},
          .outputs = {"grad_src"},
          .attributes = {{"bins", "Of the spectra that were transformed", {}, AttributeType::integer},
                         normalisation_attribute()},
          .infer = infer_backward,
          .cost = cost_backward,
          .gradient = gradient_of_backward,
          .lowering = lowered_to<IrfftBackward>(lower_backward)};
}

}  // namespace orrery::ops
