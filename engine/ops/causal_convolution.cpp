// causal_convolution: dst[t] = bias + sum_k weight[k] * src[t - (kernel - 1) + k], channel by channel
#include "engine/ops/scan_support.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const RecordInputs sizes, record_inputs(view));
  ORRERY_ASSIGN(const int64_t kernel, channel_weight(view, 2, "weight", sizes.channels));
  if (kernel != sizes.rows + 1)
    return mismatch("weight",
                    fmt::format("weight is {}, but the record {} is of {} tokens", to_string(*view.inputs[2]),
                                to_string(*view.inputs[0]), sizes.rows));
  ORRERY_TRY(
      expect_vector(view, 3, "bias", sizes.channels, "a convolution of src " + to_string(*view.inputs[1])));
  return std::vector{*view.inputs[1], *view.inputs[0]};
}

/// A multiply-add for each token that is looked at, and the bias.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double elements = count(view.inputs[1]->shape, bindings);
  const auto kernel = static_cast<double>(view.inputs[2]->shape.back().constant());
  const bool biased = view.inputs.size() > 3 && view.inputs[3];
  return {elements * (2 * kernel - 1 + (biased ? 1 : 0)),
          8 * elements + bytes(*view.inputs[2], bindings) + (biased ? bytes(*view.inputs[3], bindings) : 0) +
              record_bytes(view, bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::CausalConvolution::Args args;
  args.problem = {cols_of(context, node.inputs[1]), cols_of(context, node.inputs[2])};
  ORRERY_ASSIGN(auto chosen, choose<kernels::CausalConvolution>(context, node, args.problem));
  ORRERY_ASSIGN(args.weight, by_channel(context, node, node.inputs[2]));
  ORRERY_ASSIGN(const Slot bias, float_operand(context, node.inputs.size() > 3 ? node.inputs[3] : ValueId{}));
  const Slot state = context.slot(node.inputs[0]), src = context.slot(node.inputs[1]);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.dst = step.data<float>(dst);
    call.bias = step.data<const float>(bias);
    call.ragged = step.ragged();
    call.record = record_of(step, state);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema causal_convolution_op() {
  return {.name = "causal_convolution",
          .family = OpFamily::attention,
          .doc = "Mixes each channel of a token with those of the few tokens before it.",
          .inputs = {{"state"}, {"src"}, {.name = "weight", .stored = true}, {"bias", true}},
          .outputs = {"dst", "state"},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<kernels::CausalConvolution>(lower)};
}

}  // namespace orrery::ops
