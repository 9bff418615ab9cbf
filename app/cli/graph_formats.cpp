#include "app/cli/graph_formats.h"

#include <fmt/format.h>

#include "engine/graph/shown_weights.h"

namespace orrery::cli {
namespace {

Json to_json(const graph::Attribute& attribute) {
  return std::visit([](const auto& value) { return Json(value); }, attribute);
}

Json to_json(const Shape& shape) {
  Json dims = Json::array();
  for (const Dim& dim : shape)
    dims.push_back(dim.is_constant() ? Json(dim.constant()) : Json(dim.to_string()));
  return dims;
}

Json ids(const std::vector<ValueId>& values) {
  Json list = Json::array();
  for (const ValueId value : values) list.push_back(value.value);
  return list;
}

/// "bypassed" is there only where it is true: no output depends on the node.
Json node_json(const graph::Node& node, bool bypassed) {
  Json attributes = Json::object(), origins = Json::array();
  for (const auto& [name, attribute] : node.attributes) attributes[name] = to_json(attribute);
  for (const graph::Origin& origin : node.origins)
    origins.push_back({{"node", origin.node.value}, {"share", origin.share}});
  Json json = {{"id", node.id.value},
               {"op", node.op->name},
               {"scope", node.scope},
               {"name", node.name},
               {"attributes", std::move(attributes)},
               {"inputs", ids(node.inputs)},
               {"outputs", ids(node.outputs)},
               {"origins", std::move(origins)}};
  if (bypassed) json["bypassed"] = true;
  return json;
}

/// Values in the order of their producers.
template <class Visit>
void each_value(const graph::Graph& graph, Visit visit) {
  for (const NodeId id : graph.order())
    for (const ValueId value : graph.node(id).outputs) visit(graph.value(value));
}

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::string_view name_of_kind(graph::ValueKind kind) {
  switch (kind) {
    case graph::ValueKind::activation:
      return "activation";
    case graph::ValueKind::weight:
      return "weight";
    case graph::ValueKind::state:
      return "state";
    case graph::ValueKind::input:
      return "input";
    case graph::ValueKind::constant:
      return "constant";
  }
  return "?";
}

Drawn::Drawn(const graph::Graph& graph) : weights_(graph::shown_weights(graph)) {}

bool Drawn::contains(const graph::Node& node) const {
  return !node.is_source() || node.op->name == "input" || weights_.contains(node.id);
}

Json graph_json(const graph::Graph& graph) {
  Json nodes = Json::array(), values = Json::array();
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    nodes.push_back(node_json(node, !live[i] && !node.is_source()));
  }
  each_value(graph, [&](const graph::Value& value) {
    values.push_back({{"id", value.id.value},
                      {"name", value.name},
                      {"kind", name_of_kind(value.kind)},
                      {"dtype", name_of(value.type.dtype)},
                      {"shape", to_json(value.type.shape)}});
  });
  return {{"nodes", std::move(nodes)}, {"values", std::move(values)}};
}

std::string graph_dot(const graph::Graph& graph) {
  std::string text =
      "digraph orrery {\n  rankdir=TB;\n  node [shape=box, style=rounded, fontname=\"Inter\", "
      "fontsize=10];\n";
  const Drawn drawn(graph);
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (!drawn.contains(node)) continue;
    std::string label = fmt::format("{}\n{}", node.op->name, node.path());
    for (const std::string_view asked : {device_of(node), precision_of(node)})
      if (!asked.empty()) (label += "\n") += asked;
    text += fmt::format("  n{} [label={}{}];\n", id.value, dot_quoted(label),
                        node.is_source() ? ", shape=ellipse" : "");
  }
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (!drawn.contains(node)) continue;
    for (const ValueId input : node.inputs) {
      const graph::Value* value = graph.find_value(input);
      const graph::Node* producer = value ? graph.find(value->producer) : nullptr;
      if (producer && drawn.contains(*producer))
        text += fmt::format("  n{} -> n{} [label={}, fontsize=8];\n", producer->id.value, id.value,
                            dot_quoted(to_string(value->type.shape)));
    }
  }
  return text + "}\n";
}

}  // namespace orrery::cli
