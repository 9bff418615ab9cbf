// A graph written down: JSON for programs, DOT for Graphviz, SVG to look at.
#pragma once

#include <string>
#include <unordered_set>

#include "app/cli/output.h"
#include "engine/graph/graph.h"

namespace orrery::cli {

Json graph_json(const graph::Graph& graph);
std::string graph_dot(const graph::Graph& graph);
/// Layers from top to bottom; weights and states are named in their node, not drawn as edges.
std::string graph_svg(const graph::Graph& graph);

std::string_view name_of_kind(graph::ValueKind kind);
/// Which nodes are drawn: everything but weights that nodes take, constants and states.
class Drawn {
 public:
  explicit Drawn(const graph::Graph& graph);
  bool contains(const graph::Node& node) const;
  /// A weight that is drawn as a node, because nothing takes it.
  bool alone(const graph::Node& node) const { return weights_.contains(node.id); }

 private:
  std::unordered_set<NodeId> weights_;
};

}  // namespace orrery::cli
