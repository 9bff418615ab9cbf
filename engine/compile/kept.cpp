#include "engine/compile/kept.h"

#include <algorithm>
#include <unordered_set>

namespace orrery::compile {
namespace {

using NodeSet = std::unordered_set<NodeId>;

NodeSet live_nodes(const graph::Graph& graph) {
  NodeSet nodes;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i)
    if (live[i]) nodes.insert(graph.order()[i]);
  return nodes;
}

bool is_output(const graph::Graph& graph, ValueId value) {
  const std::vector<ValueId>& outputs = graph.outputs();
  return std::find(outputs.begin(), outputs.end(), value) != outputs.end();
}

/// Whether all who read the value would round it to this type. Dead readers do not run.
bool all_round_to(const graph::Graph& graph, const NodeSet& live, const Roundings& roundings, ValueId value,
                  DType dtype) {
  if (graph.value(value).type.dtype != DType::f32 || is_output(graph, value)) return false;
  const std::vector<graph::Use> uses = graph.users(value);
  return std::all_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
    const auto reader = roundings.find(use.node);
    return !live.contains(use.node) ||
           (use.input == 0 && reader != roundings.end() && reader->second.reads == dtype);
  });
}

}  // namespace

std::unordered_map<ValueId, DType> kept_types(const graph::Graph& graph, const Roundings& roundings) {
  std::unordered_map<ValueId, DType> kept;
  const NodeSet live = live_nodes(graph);
  for (const auto& [id, rounding] : roundings) {
    const DType dtype = rounding.writes;
    const std::vector<ValueId>& outputs = graph.node(id).outputs;
    if (dtype == DType::f32 || !std::all_of(outputs.begin(), outputs.end(), [&](ValueId output) {
          return all_round_to(graph, live, roundings, output, dtype);
        }))
      continue;
    for (const ValueId output : outputs) kept.emplace(output, dtype);
  }
  return kept;
}

}  // namespace orrery::compile
