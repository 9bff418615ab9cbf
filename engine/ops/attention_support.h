// What attention over a paged state and over packed keys have in common.
#pragma once

#include "engine/ops/lower_support.h"

namespace orrery::ops {

/// Head counts divide and the scale is finite; then the head_dim that query's cols give.
Result<int64_t> head_dim_of(const NodeView& view, const Matrix& query);

/// Operations and query/dst bytes of `tokens` queries that see `keys` keys each on average: a product and a
/// sum for the score, the same for the weighted values; 5 for the softmax.
Cost cost_attention(const NodeView& view, const Bindings& bindings, double keys);

/// Fills what both lowerings know from the attributes.
kernels::Attention::Args attention_arguments(LowerContext& context, const graph::Node& node);

}  // namespace orrery::ops
