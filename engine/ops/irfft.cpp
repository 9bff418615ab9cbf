// irfft: real signals of their spectra, along the last axis (kernels/irfft.h)
#include "kernels/irfft.h"

#include <cmath>

#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Irfft;
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

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  Irfft::Args args;
  ORRERY_ASSIGN(args.problem, problem_of({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  const auto n = static_cast<double>(args.problem.count);
  const std::string_view normalisation = text(node.attributes, "normalization");
  args.scale = normalisation == "backward" ? 1 / n : normalisation == "ortho" ? 1 / std::sqrt(n) : 1;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<Irfft>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.rows = shape.product(step, 0, shape.rank - 2);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.rows > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
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
                         {"normalization", "backward (1 / n), ortho (1 / sqrt(n)) or forward (none)",
                          Attribute(std::string("backward"))}},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<Irfft>(lower)};
}

}  // namespace orrery::ops
