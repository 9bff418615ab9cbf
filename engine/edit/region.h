// The nodes that a verb takes as one, and what crosses their border.
#pragma once

#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::edit {

using NodeSet = std::unordered_set<NodeId>;

/// Nodes that an output depends on: what is bypassed neither feeds nor reads.
NodeSet live_nodes(const graph::Graph& graph);

struct Region {
  std::vector<NodeId> nodes;  // in the order of the graph
  NodeSet inside;

  bool contains(NodeId node) const { return inside.contains(node); }
};
Region region_of(const graph::Graph& graph, std::vector<NodeId> nodes);
/// The nodes of the scopes and at the paths, each once.
Region region_of(const graph::Graph& graph, std::span<const std::string> scopes);

bool is_output(const graph::Graph& graph, ValueId value);
/// "layers.2.mlp.residual:dst f32[tokens, 576]"
std::string described(const graph::Graph& graph, ValueId value);
std::string described(const graph::Graph& graph, const std::vector<ValueId>& values);

/// The activations that the region's live nodes read from outside, and those that they make for live nodes
/// outside and for the graph's outputs. Inputs of the step, weights, constants and states do not count.
struct Border {
  std::vector<ValueId> entering, leaving;
};
Border border_of(const graph::Graph& graph, const Region& region, const NodeSet& live);

/// The residual stream through a region: the one activation that comes in and the one that is used outside,
/// of one type. Refused with both shapes; `where` names the region, `advice` tells what would do.
struct Stream {
  ValueId enters, leaves;
};
Result<Stream> find_stream(const graph::Graph& graph, const Region& region, std::string_view where,
                           std::string_view advice);

}  // namespace orrery::edit
