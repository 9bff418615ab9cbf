// band_part: what lies beside the diagonal of matrices stays; dropout: a share of elements becomes 0
// (kernels/mask.h)
#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"
#include "kernels/mask.h"

namespace orrery::ops {
namespace {

using kernels::Mask;

Types infer_band(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  if (view.inputs[0]->shape.size() < 2)
    return mismatch("src",
                    fmt::format("src is {}; it must be a matrix, or several", to_string(*view.inputs[0])));
  for (const char* bound : {"num_lower", "num_upper"})
    if (const int64_t many = integer(*view.attributes, bound); many < -1)
      return bad_attribute(
          fmt::format("{} is {}; it must be a number of diagonals, or -1 for all", bound, many));
  return std::vector{*view.inputs[0]};
}

Types infer_dropout(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  if (const double p = real(*view.attributes, "p"); !(p >= 0 && p < 1))
    return bad_attribute(fmt::format("p is {}; it must be at least 0 and less than 1", p));
  return std::vector{*view.inputs[0]};
}

Cost cost_dropout(const NodeView& view, const Bindings& bindings) {
  return {count(view.outputs[0]->shape, bindings), 2 * bytes(*view.outputs[0], bindings)};
}

/// The last dim is cols, the one before it the height of a matrix.
Result<Lowered> lower_mask(LowerContext& context, const graph::Node& node, Mask::Args args) {
  args.problem.dtype = context.type(node.inputs[0]).dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<Mask>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    const int last = std::max(shape.rank - 1, 0);
    call.rows = shape.product(step, 0, last);
    call.cols = shape.product(step, last, shape.rank);
    call.height = shape.product(step, std::max(last - 1, 0), last);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.rows > 0 && call.cols > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_band(LowerContext& context, const graph::Node& node) {
  Mask::Args args;
  args.problem.function = Mask::Function::band;
  args.lower = integer(node.attributes, "num_lower");
  args.upper = integer(node.attributes, "num_upper");
  args.exclude = flag(node.attributes, "exclude");
  return lower_mask(context, node, args);
}

Result<Lowered> lower_dropout(LowerContext& context, const graph::Node& node) {
  Mask::Args args;
  args.problem.function = Mask::Function::dropout;
  args.dropout =
      kernels::Dropout(real(node.attributes, "p"), static_cast<uint64_t>(integer(node.attributes, "seed")));
  return lower_mask(context, node, args);
}

/// The same mask again, on the gradient.
void masked_gradient(Gradients& at, const char* op) {
  Attributes attributes = at.attributes();
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  at.give(0, at.apply(op, {at.gradient()}, std::move(attributes)));
}

}  // namespace

OpSchema band_part_op() {
  return {.name = "band_part",
          .family = OpFamily::data_movement,
          .doc = "Matrices with what lies in a band around the diagonal, and 0 elsewhere.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"num_lower", "How many diagonals below the main one stay; -1: all",
                          Attribute(int64_t{-1})},
                         {"num_upper", "How many above it; -1: all", Attribute(int64_t{-1})},
                         {"exclude", "Whether the band becomes 0, and what is outside of it stays",
                          Attribute(false)}},
          .infer = infer_band,
          .cost = cost_moved,
          .gradient = [](Gradients& at) { masked_gradient(at, "band_part"); },
          .lowering = lowered_to<Mask>(lower_band)};
}

OpSchema dropout_op() {
  return {
      .name = "dropout",
      .family = OpFamily::elementwise,
      .doc =
          "A share of the elements becomes 0, the others are divided by what is left (Srivastava et al. "
          "2014).",
      .inputs = {{"src"}},
      .outputs = {"dst"},
      .attributes = {{"p", "The share of elements that become 0; the others are divided by 1 - p",
                      Attribute(0.0)},
                     {"seed",
                      "Names the mask: which elements become 0 follows from it and from their row and column",
                      Attribute(int64_t{0})}},
      .infer = infer_dropout,
      .cost = cost_dropout,
      .gradient = [](Gradients& at) { masked_gradient(at, "dropout"); },
      .lowering = lowered_to<Mask>(lower_dropout)};
}

}  // namespace orrery::ops
