#include "engine/graph/shown_weights.h"

namespace orrery::graph {

std::unordered_set<NodeId> shown_weights(const Graph& graph) {
  std::unordered_set<NodeId> shown;
  for (const ValueId output : graph.outputs())
    if (const Value* value = graph.find_value(output); value && value->kind == ValueKind::weight)
      shown.insert(value->producer);
  return shown;
}

}  // namespace orrery::graph
