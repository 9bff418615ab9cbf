#include <fmt/format.h>

#include <unordered_set>

#include "engine/graph/graph.h"

namespace orrery::graph {
namespace {

/// Inputs exist and come first. False when inference cannot be asked.
bool verify_inputs(const Graph& graph, const Node& node, const std::unordered_set<NodeId>& seen,
                   std::vector<Problem>& problems) {
  const size_t before = problems.size();
  for (const ValueId input : node.inputs) {
    if (!input.valid()) continue;
    const Value* value = graph.find_value(input);
    if (!value || !graph.find(value->producer))
      problems.push_back({node.id,
                          {ErrorCode::not_found, fmt::format("Its input %{} has no producer", input.value),
                           node.path(), "Connect another value"}});
    else if (!seen.contains(value->producer))
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

/// A state is written by one live node only: the second would not see what the first wrote.
void verify_states(const Graph& graph, const Node& node, std::unordered_map<ValueId, NodeId>& writers,
                   std::vector<Problem>& problems) {
  bool writes = false;
  for (const ValueId output : node.outputs) writes = writes || graph.value(output).kind == ValueKind::state;
  if (!writes) return;
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

}  // namespace

std::vector<Problem> verify(const Graph& graph) {
  std::vector<Problem> problems;
  std::unordered_set<NodeId> seen;
  std::unordered_map<ValueId, NodeId> writers;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < graph.order().size(); ++i) {
    const Node& node = graph.node(graph.order()[i]);
    if (verify_inputs(graph, node, seen, problems) && !node.is_source()) verify_types(graph, node, problems);
    if (live[i]) verify_states(graph, node, writers, problems);
    seen.insert(node.id);
  }
  for (const ValueId output : graph.outputs())
    if (!graph.find_value(output))
      problems.push_back(
          {{},
           {ErrorCode::not_found, fmt::format("The graph's output %{} does not exist", output.value), "",
            "Set other outputs"}});
  return problems;
}

}  // namespace orrery::graph
