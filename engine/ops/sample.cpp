// sample: one token a row of logits, by the sampling request of its sequence (kernels/sample.h). The
// attributes are what a request has that does not say otherwise (sampling.h).
#include "kernels/sample.h"

#include "engine/ops/lower_support.h"
#include "engine/ops/sampling.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix logits, activation(view, 0, "logits"));
  ORRERY_TRY(sampling_values(*view.attributes));
  return std::vector{ValueType{DType::i32, {logits.rows}}};
}

/// A softmax over the logits, which are read once from memory.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return {5 * count(view.inputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::Sample::Args args;
  args.vocabulary = cols_of(context, node.inputs[0]);
  ORRERY_ASSIGN(const SamplingValues values, sampling_values(node.attributes));
  ORRERY_ASSIGN(auto chosen, choose<kernels::Sample>(context, node, {args.vocabulary, values.chained}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  if (rows != RowCount{0, 0, 0, 1})
    return Error{ErrorCode::unsupported,
                 fmt::format("logits is {}, but it draws by the requests of the step's outputs",
                             to_string(context.type(node.inputs[0]))),
                 node.path(), "Connect logits of the rows that the step asks for"};
  const Slot logits = context.slot(node.inputs[0]), tokens = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.outputs = rows.at(step);
    if (call.outputs <= 0) return;
    call.logits = step.data<const float>(logits);
    call.requests = step.sampling;
    call.choices = step.choices;
    call.ids = step.data<int32_t>(tokens);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema sample_op() {
  return {.name = "sample",
          .family = OpFamily::sampling,
          .doc =
              "Draws the next token from the logits. What it is set to holds for every message that "
              "does not ask for else.",
          .inputs = {{"logits"}},
          .outputs = {"tokens"},
          .attributes = {sampling_attributes().begin(), sampling_attributes().end()},
          .infer = infer,
          .cost = cost,
          .stops_gradient = true,
          .lowering = lowered_to<kernels::Sample>(lower)};
}

}  // namespace orrery::ops
