#include <fmt/format.h>

#include "engine/graph/graph.h"

namespace orrery::graph {
namespace {

std::string name_of_value(const Graph& graph, ValueId id) {
  const Value* value = graph.find_value(id);
  if (!id.valid()) return "_";
  if (!value) return fmt::format("%?{}", id.value);
  switch (value->kind) {
    case ValueKind::activation:
      return fmt::format("%{}", id.value);
    case ValueKind::weight:
      return fmt::format("%w{}", id.value);
    case ValueKind::state:
      return fmt::format("%s{}", id.value);
    case ValueKind::input:
      return fmt::format("%i{}", id.value);
    case ValueKind::constant:
      return fmt::format("%c{}", id.value);
  }
  return "?";
}

std::string list(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId value : values) text += (text.empty() ? "" : ", ") + name_of_value(graph, value);
  return text;
}

/// Notes have lines; a node has one.
std::string one_line(std::string text) {
  for (size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 2))
    text.replace(i, 1, "\\n");
  return text;
}

std::string attributes_of(const Node& node) {
  std::string text;
  for (const auto& [name, value] : node.attributes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, one_line(to_string(value)));
  return text.empty() ? "" : " {" + text + "}";
}

std::string types_of(const Graph& graph, const Node& node) {
  std::string text;
  for (const ValueId output : node.outputs) text += " " + to_string(graph.value(output).type);
  return text;
}

std::string origins_of(const Node& node) {
  std::string text;
  for (const Origin& origin : node.origins)
    text += fmt::format("{}#{} {:.3f}", text.empty() ? " from " : ", ", origin.node.value, origin.share);
  return text;
}

}  // namespace

std::string print(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    text += fmt::format("{} = {}({}){}  # {}{}{}\n", list(graph, node.outputs), node.op->name,
                        list(graph, node.inputs), attributes_of(node), node.path(), types_of(graph, node),
                        origins_of(node));
  }
  return text + "outputs " + list(graph, graph.outputs()) + "\n";
}

}  // namespace orrery::graph
