#include "engine/passes/fused_linear.h"

#include "engine/passes/rewrite.h"

namespace orrery::passes {

Result<NodeId> add_fused_linear(graph::Graph& graph, const FusedLinear& request) {
  graph::Graph::NewNode fused;
  fused.op = "fused_linear";
  fused.scope = request.scope;
  fused.name = free_name(graph, request.scope, request.name);
  fused.inputs = {graph.node(request.linears.front()).inputs[0]};
  std::vector<ValueId> biases;
  std::vector<int64_t> has_bias;
  for (const NodeId id : request.linears) {
    const graph::Node& linear = graph.node(id);
    fused.inputs.push_back(linear.inputs[1]);
    const bool biased = linear.inputs.size() > 2 && linear.inputs[2].valid();
    has_bias.push_back(biased ? 1 : 0);
    if (biased) biases.push_back(linear.inputs[2]);
  }
  fused.inputs.insert(fused.inputs.end(), biases.begin(), biases.end());
  if (biases.empty()) has_bias.clear();
  fused.attributes = {{"segments", static_cast<int64_t>(request.linears.size())},
                      {"has_bias", std::move(has_bias)},
                      {"epilogue", request.epilogue}};
  keep_asked(graph.node(request.linears.front()), fused.attributes);
  fused.origins = origins_of(graph, request.origins);
  fused.before = request.before;
  return graph.add_node(std::move(fused));
}

}  // namespace orrery::passes
