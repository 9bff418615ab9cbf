#include "engine/graph/shown_weights.h"

namespace orrery::graph {
namespace {

bool has_text(const Node& node, const char* attribute) {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return false;
  const auto* text = std::get_if<std::string>(&found->second);
  return text && !text->empty();
}

}  // namespace

std::unordered_set<NodeId> shown_weights(const Graph& graph) {
  std::unordered_set<NodeId> shown;
  for (const ValueId output : graph.outputs())
    if (const Value* value = graph.find_value(output); value && value->kind == ValueKind::weight)
      shown.insert(value->producer);
  return shown;
}

bool takes_arrays(const Graph& graph) {
  bool own = graph.order().empty();
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.is_source()) continue;
    const std::string& op = node.op->name;
    if (op == "state" || (op == "input" && !has_text(node, "dtype"))) return false;
    own = own || op == "input" || op == "constant" || has_text(node, "file");
  }
  return own;
}

std::unordered_set<NodeId> shown_sources(const Graph& graph) {
  std::unordered_set<NodeId> shown = shown_weights(graph);
  if (!takes_arrays(graph)) return shown;
  for (const NodeId id : graph.order())
    if (graph.node(id).is_source()) shown.insert(id);
  return shown;
}

}  // namespace orrery::graph
