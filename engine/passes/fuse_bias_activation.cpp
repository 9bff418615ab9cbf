// act(linear(x, w, b)) -> linear(x, w, b) with the epilogue act, where nothing else reads the linear's own
// result.
#include <array>

#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

Result<void> fuse(graph::Graph& graph, NodeId linear_id, NodeId activation_id, std::string_view epilogue) {
  const graph::Node& linear = graph.node(linear_id);
  const graph::Node& activation = graph.node(activation_id);
  const std::array origins = {linear_id, activation_id};
  graph::Graph::NewNode fused;
  fused.op = "linear";
  fused.scope = common_scope(graph, origins);
  fused.name = free_name(graph, fused.scope, linear.name + "_" + std::string(activation.op->name));
  fused.attributes = without_drawings(linear);
  fused.attributes.insert_or_assign("epilogue", std::string(epilogue));
  fused.inputs = linear.inputs;
  fused.origins = origins_of(graph, origins);
  fused.before = linear_id;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(fused)));
  ORRERY_TRY(replace_value(graph, graph.node(activation_id).outputs[0], graph.node(id).outputs[0]));
  ORRERY_TRY(graph.remove_node(activation_id));
  return graph.remove_node(linear_id);
}

}  // namespace

Result<int> fuse_bias_activation(graph::Graph& graph) {
  int rewrites = 0;
  for (const NodeId id : std::vector(graph.order())) {
    const graph::Node* activation = graph.find(id);
    const std::string_view epilogue = activation ? epilogue_of(*activation) : std::string_view();
    if (epilogue.empty()) continue;
    const graph::Node* linear = producer_of(graph, activation->inputs[0], "linear");
    if (!linear || !is_plain_linear(graph, *linear) || !asked_alike(*linear, *activation)) continue;
    if (only_user(graph, linear->outputs[0]) != id) continue;
    ORRERY_TRY(fuse(graph, linear->id, id, epilogue));
    ++rewrites;
  }
  return rewrites;
}

}  // namespace orrery::passes
