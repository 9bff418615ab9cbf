// Nodes of the fused graph that are opened into the nodes of the model graph which they compute: the graph as
// it is drawn then, with a scope of the node's own path in its place. For what is drawn, not for what runs.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/graph.h"

namespace orrery::ui {

struct OpenedNodes {
  graph::GraphVersion graph;                  // the fused one itself where nothing is opened
  std::unordered_set<std::string> scopes;     // of the nodes that are opened
  std::unordered_map<NodeId, double> shares;  // of what is in them: the part of the node's work, modelled
};

/// Whether the node stands for several of the model graph.
bool canOpen(const graph::Graph& model, const graph::Node& node);
/// `paths`: of the nodes that are to be open; those that are not there, or stand for one node, stay as they
/// are.
OpenedNodes openedNodes(const graph::GraphVersion& fused, const graph::Graph& model,
                        const std::set<std::string>& paths);

}  // namespace orrery::ui
