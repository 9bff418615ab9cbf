#include "ui/shell/graph_links.h"

#include <algorithm>
#include <unordered_set>

#include "ui/placement/scope_words.h"

namespace orrery::ui {

std::vector<NodeId> chosenNodes(const graph::Graph& graph, const std::vector<GraphView::Selected>& chosen) {
  std::vector<NodeId> nodes;
  for (const GraphView::Selected& one : chosen) {
    if (one.node.valid()) nodes.push_back(one.node);
    if (one.scope.isEmpty()) continue;
    const std::vector<NodeId> inside = nodesIn(graph, scopeWord({one.scope}));
    nodes.insert(nodes.end(), inside.begin(), inside.end());
  }
  return nodes;
}

std::vector<NodeId> fusedOf(const graph::Graph& shown, const std::vector<NodeId>& model) {
  if (model.empty()) return {};
  const std::unordered_set<NodeId> wanted(model.begin(), model.end());
  std::vector<NodeId> nodes;
  for (const NodeId id : shown.order()) {
    const std::vector<graph::Origin>& origins = shown.node(id).origins;
    const bool computes = std::any_of(origins.begin(), origins.end(), [&wanted](const graph::Origin& origin) {
      return wanted.contains(origin.node);
    });
    if (computes || wanted.contains(id)) nodes.push_back(id);
  }
  return nodes;
}

std::vector<NodeId> originsOf(const graph::Graph& model, const graph::Graph& shown,
                              const std::vector<NodeId>& fused) {
  std::vector<NodeId> nodes;
  for (const NodeId id : fused) {
    const graph::Node* node = shown.find(id);
    if (!node) continue;
    if (node->origins.empty() && model.find(id)) nodes.push_back(id);
    for (const graph::Origin& origin : node->origins)
      if (model.find(origin.node)) nodes.push_back(origin.node);
  }
  return nodes;
}

}  // namespace orrery::ui
