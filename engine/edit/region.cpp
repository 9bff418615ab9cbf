#include "engine/edit/region.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::edit {
namespace {

void add_once(std::vector<ValueId>& values, ValueId value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// "No activation enters it", "2 activations leave it, not one: ..."
std::string not_one(const graph::Graph& graph, const std::vector<ValueId>& values, std::string_view verb) {
  if (values.empty()) return fmt::format("No activation {}s it", verb);
  return fmt::format("{} activations {} it, not one: {}", values.size(), verb, described(graph, values));
}

}  // namespace

NodeSet live_nodes(const graph::Graph& graph) {
  const std::vector<bool> live = graph.live();
  NodeSet nodes;
  for (size_t i = 0; i < live.size(); ++i)
    if (live[i]) nodes.insert(graph.order()[i]);
  return nodes;
}

Region region_of(const graph::Graph& graph, std::vector<NodeId> nodes) {
  Region region;
  region.inside.insert(nodes.begin(), nodes.end());
  for (const NodeId id : graph.order())
    if (region.contains(id)) region.nodes.push_back(id);
  return region;
}

Region region_of(const graph::Graph& graph, std::span<const std::string> scopes) {
  std::vector<NodeId> nodes;
  for (const std::string& scope : scopes) {
    const std::vector<NodeId> inside = graph.in_scope(scope);
    nodes.insert(nodes.end(), inside.begin(), inside.end());
  }
  return region_of(graph, std::move(nodes));
}

bool is_output(const graph::Graph& graph, ValueId value) {
  return std::find(graph.outputs().begin(), graph.outputs().end(), value) != graph.outputs().end();
}

std::string described(const graph::Graph& graph, ValueId id) {
  return fmt::format("{} {}", graph.value_path(id), to_string(graph.value(id).type));
}

std::string described(const graph::Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (size_t i = 0; i < values.size() && i < 4; ++i)
    text += (i == 0 ? "" : ", ") + described(graph, values[i]);
  return values.size() > 4 ? text + ", ..." : text;
}

Border border_of(const graph::Graph& graph, const Region& region, const NodeSet& live) {
  Border border;
  for (const NodeId id : region.nodes) {
    if (!live.contains(id)) continue;
    const graph::Node& node = graph.node(id);
    for (const ValueId input : node.inputs)
      if (input.valid() && graph.value(input).kind == graph::ValueKind::activation &&
          !region.contains(graph.value(input).producer))
        add_once(border.entering, input);
    for (const ValueId output : node.outputs) {
      if (graph.value(output).kind != graph::ValueKind::activation) continue;
      const auto users = graph.users(output);
      if (is_output(graph, output) || std::any_of(users.begin(), users.end(), [&](const graph::Use& use) {
            return !region.contains(use.node) && live.contains(use.node);
          }))
        add_once(border.leaving, output);
    }
  }
  return border;
}

Result<Stream> find_stream(const graph::Graph& graph, const Region& region, std::string_view where,
                           std::string_view advice) {
  const auto refuse = [&](ErrorCode code, std::string what) {
    return Error{code, std::move(what), std::string(where), std::string(advice)};
  };
  const NodeSet live = live_nodes(graph);
  if (std::none_of(region.nodes.begin(), region.nodes.end(), [&](NodeId id) { return live.contains(id); }))
    return Error{ErrorCode::invalid_argument, "It is bypassed already: no output depends on it",
                 std::string(where), ""};
  const Border border = border_of(graph, region, live);
  if (border.entering.size() != 1)
    return refuse(ErrorCode::invalid_argument, not_one(graph, border.entering, "enter"));
  if (border.leaving.size() != 1)
    return refuse(ErrorCode::invalid_argument, not_one(graph, border.leaving, "leave"));
  const Stream stream{border.entering.front(), border.leaving.front()};
  if (graph.value(stream.enters).type != graph.value(stream.leaves).type)
    return refuse(ErrorCode::shape_mismatch,
                  fmt::format("What enters is {}, and what leaves is {}", described(graph, stream.enters),
                              described(graph, stream.leaves)));
  return stream;
}

}  // namespace orrery::edit
