#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/graph/graph.h"

namespace orrery::graph {
namespace {

using Places = std::unordered_map<NodeId, size_t>;  // in the order

/// Inputs exist and come first. False when inference cannot be asked.
bool verify_inputs(const Graph& graph, const Node& node, const Places& places,
                   std::vector<Problem>& problems) {
  const size_t before = problems.size();
  for (const ValueId input : node.inputs) {
    if (!input.valid()) continue;
    const Value* value = graph.find_value(input);
    if (!value || !graph.find(value->producer))
      problems.push_back({node.id,
                          {ErrorCode::not_found, fmt::format("Its input %{} has no producer", input.value),
                           node.path(), "Connect another value"}});
    else if (places.at(value->producer) >= places.at(node.id))
      problems.push_back({node.id,
                          {ErrorCode::invalid_argument,
                           fmt::format("Its input {} is computed after it", graph.value_path(input)),
                           node.path(), "A node cannot depend on itself"}});
  }
  return problems.size() == before;
}

void verify_types(const Graph& graph, const Node& node, std::vector<Problem>& problems) {
  auto types = graph.infer(node.id);
  if (!types) {
    problems.push_back({node.id, std::move(types).error()});
    return;
  }
  if (types->size() != node.outputs.size()) {
    problems.push_back(
        {node.id,
         {ErrorCode::internal,
          fmt::format("It has {} outputs; its inputs give {}", node.outputs.size(), types->size()),
          node.path(), ""}});
    return;
  }
  for (size_t i = 0; i < types->size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    if (value.type != (*types)[i])
      problems.push_back({node.id,
                          {ErrorCode::shape_mismatch,
                           fmt::format("Its output {} is {}, but its inputs give {}", value.name,
                                       to_string(value.type), to_string((*types)[i])),
                           node.path(), ""}});
  }
}

bool writes_state(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId output) { return graph.value(output).kind == ValueKind::state; });
}

/// A state is written by one live node only: the second would not see what the first wrote.
void verify_states(const Graph& graph, std::vector<Problem>& problems) {
  std::unordered_map<ValueId, NodeId> writers;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    const Node& node = graph.node(graph.order()[i]);
    if (node.is_source() || !writes_state(graph, node)) continue;
    for (const ValueId input : node.inputs) {
      const Value* value = graph.find_value(input);
      if (!value || value->kind != ValueKind::state) continue;
      const auto [writer, first] = writers.try_emplace(input, node.id);
      if (!first)
        problems.push_back({node.id,
                            {ErrorCode::invalid_argument,
                             fmt::format("The state {} is already written by {}", graph.value_path(input),
                                         graph.node(writer->second).path()),
                             node.path(), "Give it a state of its own"}});
    }
  }
}

void verify_outputs(const Graph& graph, std::vector<Problem>& problems) {
  for (const ValueId output : graph.outputs())
    if (!graph.find_value(output))
      problems.push_back(
          {{},
           {ErrorCode::not_found, fmt::format("The graph's output %{} does not exist", output.value), "",
            "Set other outputs"}});
}

Places places_of(const Graph& graph) {
  Places places;
  places.reserve(graph.order().size());
  for (const NodeId id : graph.order()) places.emplace(id, places.size());
  return places;
}

}  // namespace

std::vector<Problem> verify(const Graph& graph) {
  std::vector<Problem> problems;
  const Places places = places_of(graph);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (verify_inputs(graph, node, places, problems) && !node.is_source())
      verify_types(graph, node, problems);
  }
  verify_states(graph, problems);
  verify_outputs(graph, problems);
  return problems;
}

std::vector<Problem> verify_changed(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<Problem> problems;
  const Places places = places_of(graph);
  for (const NodeId id : nodes)
    if (const Node* node = graph.find(id)) verify_inputs(graph, *node, places, problems);
  verify_states(graph, problems);
  verify_outputs(graph, problems);
  return problems;
}

}  // namespace orrery::graph
