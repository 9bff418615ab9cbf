// What attention over a paged state and over packed keys have in common.
#pragma once

#include "engine/ops/lower_support.h"

namespace orrery::ops {

/// Head counts divide, the scale is finite, and the weights are of a known kind; then the head_dim that
/// query's cols give.
Result<int64_t> head_dim_of(const NodeView& view, const Matrix& query);

/// Whether the attributes ask for the weights of Fastmax.
bool is_fastmax(const Attributes& attributes);

/// How scores become weights: attributes that both ops have, after their own.
std::vector<AttributeSpec> with_kind(std::vector<AttributeSpec> attributes);

/// Operations and query/dst bytes of `tokens` queries that see `keys` keys each on average, of `distinct`
/// keys in all. A product and a sum for the score, the same for the weighted values. A weight takes 5 of a
/// softmax; of Fastmax the terms of its polynomial and a sum, and where it normalises a product, 3 for each
/// element of a query, and 2 for each of a key.
Cost cost_attention(const NodeView& view, const Bindings& bindings, double keys, double distinct);

/// Fills what both lowerings know from the attributes.
kernels::Attention::Args attention_arguments(LowerContext& context, const graph::Node& node);

}  // namespace orrery::ops
