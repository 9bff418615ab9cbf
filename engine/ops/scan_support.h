// What causal_convolution and selective_scan have in common: a record that they read and write, and weights
// that the kernels want with their channels side by side.
#pragma once

#include "engine/ops/lower_support.h"
#include "kernels/scan.h"

namespace orrery::ops {

/// Input 0 a record f32[rows, channels], input 1 `src` f32[tokens, channels].
struct RecordInputs {
  int64_t rows = 0, channels = 0;
};
Result<RecordInputs> record_inputs(const NodeView& view);

/// A weight [channels, n] or [channels, 1, n] of floats.
Result<int64_t> channel_weight(const NodeView& view, size_t input, std::string_view name, int64_t channels);

/// The weight as f32 (n, channels); `negated_exp`: of each element -e^x.
Result<const float*> by_channel(LowerContext& context, const graph::Node& node, ValueId value,
                                bool negated_exp = false);

inline kernels::PagedRecord record_of(const StepContext& step, const Slot& state) {
  const kernels::PagedKv& pages = step.state(state);
  return {pages.base, pages.page_stride, pages.page_tokens};
}

/// Bytes of the records of a step's sequences, read and written.
double record_bytes(const NodeView& view, const Bindings& bindings);

}  // namespace orrery::ops
