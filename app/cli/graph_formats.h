// A graph written down: JSON for programs, DOT for Graphviz, SVG to look at.
#pragma once

#include <string>

#include "app/cli/output.h"
#include "engine/graph/graph.h"

namespace orrery::cli {

Json graph_json(const graph::Graph& graph);
std::string graph_dot(const graph::Graph& graph);
/// Layers from top to bottom; weights and states are named in their node, not drawn as edges.
std::string graph_svg(const graph::Graph& graph);

std::string_view name_of_kind(graph::ValueKind kind);
/// Whether a node is drawn: everything but weights, constants and states.
bool is_drawn(const graph::Node& node);

}  // namespace orrery::cli
