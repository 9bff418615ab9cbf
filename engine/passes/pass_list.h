// The run functions of the passes, one per file; passes.cpp lists them with their names. Each returns how
// many places it rewrote, and leaves a graph of the same meaning.
#pragma once

#include "engine/passes/draft.h"
#include "engine/passes/passes.h"

namespace orrery::passes {

Result<int> fold_constants(graph::Graph& graph);
Result<int> split_weights(graph::Graph& graph);
Result<int> merge_low_rank(graph::Graph& graph);
Result<int> remove_dead_nodes(graph::Graph& graph);
Result<int> summarise_fastmax(graph::Graph& graph);
Result<int> fuse_residual_norm(graph::Graph& graph);
Result<int> fuse_qkv(graph::Graph& graph);
Result<int> fuse_gate_up(graph::Graph& graph);
Result<int> fuse_bias_activation(graph::Graph& graph);
Result<int> store_rounded(Draft& draft, const RoundingOf& rounding);

}  // namespace orrery::passes
