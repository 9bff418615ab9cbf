// Sources that are drawn as nodes are.
#pragma once

#include <unordered_set>

#include "engine/graph/graph.h"

namespace orrery::graph {

/// Weights that are outputs themselves: nothing computes with them, as in the graph of a file that can only
/// be looked at. All other weights are told beside the nodes that take them.
std::unordered_set<NodeId> shown_weights(const Graph& graph);

/// Whether it is given arrays, as a graph of one's own is, and not a model's step. One without nodes may be.
bool takes_arrays(const Graph& graph);

/// Beside the shown weights, every source of a graph that takes arrays: there a person connects it.
std::unordered_set<NodeId> shown_sources(const Graph& graph);

}  // namespace orrery::graph
