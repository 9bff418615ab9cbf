// What attention over a paged state and over packed keys have in common.
#pragma once

#include <optional>

#include "engine/ops/lower_support.h"
#include "kernels/fastmax_scan.h"

namespace orrery::ops {

/// Head counts divide, the scale is finite, and the weights are of a known kind; then the head_dim that
/// query's cols give.
Result<int64_t> head_dim_of(const NodeView& view, const Matrix& query);

/// Whether the attributes ask for the weights of Fastmax.
bool is_fastmax(const Attributes& attributes);

/// The state of an attention that keeps a summary of its keys and values (kernels/fastmax_scan.h):
/// f32[kv_heads, features, head_dim + 1].
struct Summary {
  int64_t kv_heads = 0, features = 0, head_dim = 0;
};
/// Nothing of another state.
std::optional<Summary> summary_of(const ValueType& state);

/// What a FastmaxScan computes by the attributes of its node; `cols`: of query.
kernels::FastmaxScan::Problem fastmax_scan_problem(const Attributes& attributes, int64_t cols);

/// How scores become weights: attributes that both ops have, after their own.
std::vector<AttributeSpec> with_kind(std::vector<AttributeSpec> attributes);

/// Operations and query/dst bytes of `tokens` queries that see `keys` keys each on average, of `distinct`
/// keys in all. A product and a sum for the score, the same for the weighted values. A weight takes 5 of a
/// softmax; of Fastmax the terms of its polynomial and a sum, and where it normalises a product, 3 for each
/// element of a query, and 2 for each of a key.
Cost cost_attention(const NodeView& view, const Bindings& bindings, double keys, double distinct);

/// Of an attention over a summary, its inputs `query` and `state`: a multiply-add for each number of the
/// state to take a token in and for each query that reads it; queries, results and the states of the step's
/// sequences, read and written. Keys and values are counted where there are inputs after `query` that are not
/// the state.
Cost cost_fastmax_scan(const NodeView& view, const Bindings& bindings, size_t query, size_t state);

/// Fills what both lowerings know from the attributes.
kernels::Attention::Args attention_arguments(LowerContext& context, const graph::Node& node);

}  // namespace orrery::ops
