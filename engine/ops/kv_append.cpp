// kv_append: writes the step's keys and values behind what the state holds of each sequence
#include "engine/ops/attention_support.h"
#include "engine/ops/lower_support.h"
#include "kernels/attention.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  const ValueType& state = *view.inputs[0];
  if (const auto summary = summary_of(state)) {
    ORRERY_ASSIGN(const Matrix key, activation(view, 1, "key"));
    if (product(summary->kv_heads, summary->head_dim) != key.cols)
      return mismatch("key",
                      fmt::format("key is {}, but state {} is of {} heads of {}", to_string(*view.inputs[1]),
                                  to_string(state), summary->kv_heads, summary->head_dim));
    ORRERY_TRY(expect_same(view, 2, "value", 1, "key"));
    return std::vector{state};
  }
  if (state.dtype != DType::f16 || state.shape.size() != 2 || !state.shape[0].is_constant() ||
      !state.shape[1].is_constant())
    return mismatch("state", fmt::format("state is {}; it must keep keys and values, f16[kv_heads, head_dim]",
                                         to_string(state)));
  const auto wanted = product(state.shape[0].constant(), state.shape[1].constant());
  ORRERY_ASSIGN(const Matrix key, activation(view, 1, "key"));
  if (wanted != key.cols)
    return mismatch("key", fmt::format("key is {}, but a token of state {} has {} elements",
                                       to_string(*view.inputs[1]), to_string(state), wanted.value_or(-1)));
  ORRERY_TRY(expect_same(view, 2, "value", 1, "key"));
  return std::vector{state};
}

/// Keys and values are read as f32 and written in the cache's dtype.
Cost cost(const NodeView& view, const Bindings& bindings) {
  if (summary_of(*view.inputs[0])) return {};  // the attention takes them in
  const double rows = rows_of(*view.inputs[1], bindings);
  return {0, bytes(*view.inputs[1], bindings) + bytes(*view.inputs[2], bindings) +
                 rows * kept_bytes(*view.inputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  if (summary_of(context.type(node.inputs[0])))
    return Error{ErrorCode::unsupported, "One attention alone reads a summary, where it is written",
                 node.path(),
                 "give each attention a state of its own, and leave the pass summarise_fastmax on"};
  kernels::KvAppend::Args args;
  args.key_stride = args.value_stride = cols_of(context, node.inputs[1]);
  args.tokens = context.max_tokens();
  ORRERY_ASSIGN(auto chosen, choose<kernels::KvAppend>(
                                 context, node, {context.kv_dtype(), cols_of(context, node.inputs[0])}));
  const Slot state = context.slot(node.inputs[0]);
  const Slot key = context.slot(node.inputs[1]), value = context.slot(node.inputs[2]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.key = step.data<const float>(key);
    call.value = step.data<const float>(value);
    call.ragged = step.ragged();
    call.kv = step.state(state);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema kv_append_op() {
  return {.name = "kv_append",
          .family = OpFamily::data_movement,
          .doc = "Appends the new tokens' keys and values to what the layer remembers.",
          .inputs = {{"state"}, {"key"}, {"value"}},
          .outputs = {"state"},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<kernels::KvAppend>(lower)};
}

}  // namespace orrery::ops
