// Which things of the model graph and the fused graph belong together: several to one, and one to several.
#pragma once

#include <vector>

#include "ui/graph/graph_view.h"

namespace orrery::ui {

/// The nodes that are chosen in a graph, those of a scope each.
std::vector<NodeId> chosenNodes(const graph::Graph& graph, const std::vector<GraphView::Selected>& chosen);
/// The nodes of `shown`, a fused graph, that compute one of these of its model graph.
std::vector<NodeId> fusedOf(const graph::Graph& shown, const std::vector<NodeId>& model);
/// The nodes of the model graph that these of `shown`, a fused graph, compute. None for a transfer.
std::vector<NodeId> originsOf(const graph::Graph& model, const graph::Graph& shown,
                              const std::vector<NodeId>& fused);

}  // namespace orrery::ui
