#include "engine/edit/states.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace orrery::edit {
namespace {

bool is_state(const graph::Graph& graph, ValueId value) {
  const graph::Value* known = graph.find_value(value);
  return known && known->kind == graph::ValueKind::state;
}

/// A node that writes a state, with what it makes of it.
struct Writer {
  NodeId node, source;
  ValueId before, after;
};

std::vector<Writer> writers_of(const graph::Graph& graph) {
  std::vector<Writer> writers;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.is_source()) continue;
    for (const ValueId output : node.outputs)
      if (is_state(graph, output))
        for (const ValueId input : node.inputs)
          if (is_state(graph, input))
            writers.push_back({id, graph::state_source(graph, input), input, output});
  }
  return writers;
}

/// Nodes that a value depends on, added to those that are known.
void need(const graph::Graph& graph, ValueId value, std::unordered_set<NodeId>& needed) {
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const graph::Value* known = graph.find_value(open.back());
    open.pop_back();
    if (!known || !needed.insert(known->producer).second) continue;
    const std::vector<ValueId>& inputs = graph.node(known->producer).inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
}

/// Among the writers those whose state is kept.
std::vector<Writer> kept(const graph::Graph& graph, const std::vector<ValueId>& results) {
  const std::vector<Writer> writers = writers_of(graph);
  const std::vector<ValueId>& outputs = graph.outputs();
  std::unordered_set<NodeId> needed;
  for (const ValueId result : results) need(graph, result, needed);
  for (bool more = true; std::exchange(more, false);)
    for (const Writer& writer : writers)
      if (needed.contains(writer.source) && !needed.contains(writer.node) &&
          std::ranges::find(outputs, writer.after) != outputs.end()) {  // written beside what reads it
        need(graph, writer.after, needed);
        more = true;
      }
  std::unordered_set<ValueId> written_on;
  for (const Writer& writer : writers)
    if (needed.contains(writer.node)) written_on.insert(writer.before);
  std::vector<Writer> last;
  for (const Writer& writer : writers)
    if (needed.contains(writer.node) && !written_on.contains(writer.after)) last.push_back(writer);
  return last;
}

}  // namespace

void settle_states(const graph::Graph& graph, graph::Transaction& transaction) {
  std::vector<ValueId> results;
  for (const ValueId output : graph.outputs())
    if (!is_state(graph, output)) results.push_back(output);
  if (results.empty()) return;
  std::vector<ValueId> states;
  for (const Writer& writer : kept(graph, results)) states.push_back(writer.after);
  std::vector<ValueId> outputs;  // those that stay keep their place
  for (const ValueId output : graph.outputs())
    if (!is_state(graph, output) || std::ranges::find(states, output) != states.end())
      outputs.push_back(output);
  for (const ValueId state : states)
    if (std::ranges::find(outputs, state) == outputs.end()) outputs.push_back(state);
  if (outputs != graph.outputs()) transaction.set_outputs(std::move(outputs));
}

}  // namespace orrery::edit
