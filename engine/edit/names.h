// What edits call nodes, values and inputs by, and the names that come nearest where there is no such thing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::edit {

/// The node of a path; a refusal offers the nearest ones.
Result<NodeId> find_node(const graph::Graph& graph, std::string_view path);
/// "layers.0.attention.q_proj:dst"; the output need not be said where there is one. A slash may stand for a
/// dot.
Result<ValueId> find_value(const graph::Graph& graph, std::string_view name);

struct InputPlace {
  NodeId node;
  int input = 0;
};
/// "layers.0.mlp.residual.1" or "layers.0.mlp.residual.b". Of a variadic input the place after the last one
/// is there too.
Result<InputPlace> find_input(const graph::Graph& graph, std::string_view name);

/// A path in two: "layers.3" and "mlp" of "layers.3.mlp".
struct Path {
  std::string scope, name;
};
Path split_path(std::string_view path);
/// Where a node at a path, or below it, stands when the path has another last part. Names may have dots
/// ("q_proj.weight"), which stay in the name.
Path moved_path(const graph::Node& node, std::string_view from, std::string_view to);
/// Refused, with one that is free, where a node has the path or stands below it.
Result<void> check_free(const graph::Graph& graph, const std::string& path);
/// `path`, or with "_2", "_3", ... after it where that is not free.
std::string free_path(const graph::Graph& graph, const std::string& path);

/// Scopes and paths that a person may have meant, nearest first. A `*`, and a range that fits, stay as they
/// are written.
std::vector<std::string> nearest_names(const graph::Graph& graph, std::string_view pattern, size_t most = 3);
/// "did you mean layers.3.mlp or layers.3.mlp.norm?"; `otherwise` where nothing is near.
std::string offer(const std::vector<std::string>& names, std::string otherwise);

}  // namespace orrery::edit
