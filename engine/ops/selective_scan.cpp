// selective_scan: h = e^(step a) h + step b src, dst = c h + d src with step = softplus(delta), token after
// token (kernels/scan.h)
#include "engine/ops/scan_support.h"

namespace orrery::ops {
namespace {

enum Input : size_t { kState, kSrc, kDelta, kB, kC, kA, kD };

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const RecordInputs sizes, record_inputs(view));
  ORRERY_TRY(expect_same(view, kDelta, "delta", kSrc, "src"));
  ORRERY_ASSIGN(const Matrix b, activation(view, kB, "b"));
  if (b.rows != Dim(kTokens) || b.cols != sizes.rows)
    return mismatch("b", fmt::format("b is {}, but the record {} has {} states", to_string(*view.inputs[kB]),
                                     to_string(*view.inputs[kState]), sizes.rows));
  ORRERY_TRY(expect_same(view, kC, "c", kB, "b"));
  ORRERY_ASSIGN(const int64_t states, channel_weight(view, kA, "a", sizes.channels));
  if (states != sizes.rows)
    return mismatch("a", fmt::format("a is {}, but the record {} has {} states", to_string(*view.inputs[kA]),
                                     to_string(*view.inputs[kState]), sizes.rows));
  ORRERY_TRY(expect_vector(view, kD, "d", sizes.channels, "a scan of src " + to_string(*view.inputs[kSrc])));
  return std::vector{*view.inputs[kSrc], *view.inputs[kState]};
}

/// A state's step is an exponential, its product with a, two multiply-adds and the product that enters.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double elements = count(view.inputs[kSrc]->shape, bindings);
  const auto states = static_cast<double>(view.inputs[kA]->shape.back().constant());
  double moved = record_bytes(view, bindings) + bytes(*view.outputs[0], bindings);
  for (size_t input = kSrc; input <= kD; ++input) moved += bytes(*view.inputs[input], bindings);
  return {elements * (7 * states + 5), moved};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::SelectiveScan::Args args;
  args.problem = {cols_of(context, node.inputs[kSrc]), cols_of(context, node.inputs[kA])};
  ORRERY_ASSIGN(auto chosen, choose<kernels::SelectiveScan>(context, node, args.problem));
  ORRERY_ASSIGN(args.a, by_channel(context, node, node.inputs[kA], flag(node.attributes, "log_a")));
  ORRERY_ASSIGN(const Slot d, float_operand(context, node.inputs[kD]));
  const Slot state = context.slot(node.inputs[kState]), src = context.slot(node.inputs[kSrc]);
  const Slot delta = context.slot(node.inputs[kDelta]), b = context.slot(node.inputs[kB]);
  const Slot c = context.slot(node.inputs[kC]), dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.delta = step.data<const float>(delta);
    call.b = step.data<const float>(b);
    call.c = step.data<const float>(c);
    call.d = step.data<const float>(d);
    call.dst = step.data<float>(dst);
    call.ragged = step.ragged();
    call.record = record_of(step, state);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema selective_scan_op() {
  return {.name = "selective_scan",
          .family = OpFamily::attention,
          .doc = "A state of each channel fades and takes in what the token selects (Gu and Dao 2023).",
          .inputs = {{"state"}, {"src"}, {"delta"}, {"b"}, {"c"}, {.name = "a", .stored = true}, {"d"}},
          .outputs = {"dst", "state"},
          .attributes = {{"log_a", "a is stored as log(-a), as folders do", Attribute(false)}},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<kernels::SelectiveScan>(lower)};
}

}  // namespace orrery::ops
