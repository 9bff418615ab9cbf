#include "engine/edit/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace orrery::edit {
namespace {

bool is_state(const graph::Graph& graph, ValueId value) {
  const graph::Value* known = graph.find_value(value);
  return known && known->kind == graph::ValueKind::state;
}

/// The state that a node makes; none where it makes none.
ValueId written_by(const graph::Graph& graph, const graph::Node& node) {
  const auto state =
      std::ranges::find_if(node.outputs, [&](ValueId output) { return is_state(graph, output); });
  return state == node.outputs.end() || node.is_source() ? ValueId{} : *state;
}

/// Nodes that the values depend on, in the order of the graph.
std::vector<const graph::Node*> needed_for(const graph::Graph& graph, const std::vector<ValueId>& values) {
  std::unordered_set<NodeId> needed;
  std::vector<const graph::Node*> nodes;
  const auto need = [&](ValueId value) {
    if (const graph::Value* known = graph.find_value(value)) needed.insert(known->producer);
  };
  for (const ValueId value : values) need(value);
  for (size_t i = graph.order().size(); i-- > 0;) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!needed.contains(node.id)) continue;
    nodes.push_back(&node);
    for (const ValueId input : node.inputs) need(input);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

/// By state the live node that writes it on.
using Writers = std::unordered_map<ValueId, const graph::Node*>;

Result<void> check_reader(const graph::Graph& graph, const graph::Node& reader, ValueId state,
                          const Writers& writers) {
  const graph::Node& maker = graph.node(graph.value(state).producer);
  const auto writer = writers.find(state);
  if (!maker.is_source() && writer == writers.end()) return {};
  return Error{ErrorCode::invalid_argument,
               writer == writers.end()
                   ? fmt::format("It would read {}, which nothing that runs writes", graph.value_path(state))
                   : fmt::format("It would read {}, which {} changes in place", graph.value_path(state),
                                 writer->second->path()),
               reader.path(), "connect what a node writes of it"};
}

}  // namespace

Result<void> settle_states(const graph::Graph& graph, graph::Transaction& transaction) {
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs())
    if (!is_state(graph, output)) outputs.push_back(output);
  if (outputs.empty()) return {};
  const std::vector<const graph::Node*> live = needed_for(graph, outputs);
  Writers writers;
  for (const graph::Node* node : live)
    if (written_by(graph, *node).valid())
      for (const ValueId input : node->inputs)
        if (is_state(graph, input)) writers.emplace(input, node);
  std::vector<ValueId> kept;
  for (const graph::Node* node : live) {
    const ValueId state = written_by(graph, *node);
    if (state.valid() && !writers.contains(state)) kept.push_back(state);
    if (state.valid()) continue;
    for (const ValueId input : node->inputs)
      if (is_state(graph, input)) ORRERY_TRY(check_reader(graph, *node, input, writers));
  }
  outputs = graph.outputs();  // those that stay keep their place
  std::erase_if(outputs, [&](ValueId output) {
    return is_state(graph, output) && std::ranges::find(kept, output) == kept.end();
  });
  for (const ValueId state : kept)
    if (std::ranges::find(outputs, state) == outputs.end()) outputs.push_back(state);
  if (outputs != graph.outputs()) transaction.set_outputs(std::move(outputs));
  return {};
}

}  // namespace orrery::edit
