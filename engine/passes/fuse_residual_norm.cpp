// norm(a + b) -> add_rms_norm or add_layer_norm, which write both the sum and the normed row. The sum may
// have other users: they read the fused node's first output. Left alone: a row that is added to every row (it
// is no residual), norms whose weights are computed, and values other than f32 rows, which the fused ops
// take.
#include <algorithm>
#include <array>

#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

const graph::Node* residual_add(const graph::Graph& graph, const graph::Node& norm) {
  const graph::Node* add = producer_of(graph, norm.inputs[0], "add");
  if (!add || !asked_alike(*add, norm)) return nullptr;
  const graph::ValueType& type = graph.value(add->inputs[0]).type;
  if (type != graph.value(add->inputs[1]).type || type.dtype != DType::f32 || type.shape.size() != 2)
    return nullptr;
  const bool stored = std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), [&](ValueId input) {
    return !input.valid() || graph.node(graph.value(input).producer).is_source();
  });
  return stored ? add : nullptr;
}

Result<void> fuse(graph::Graph& graph, NodeId add_id, NodeId norm_id) {
  const graph::Node& norm = graph.node(norm_id);
  const std::array origins = {add_id, norm_id};
  graph::Graph::NewNode fused;
  fused.op = "add_" + std::string(norm.op->name);
  fused.scope = norm.scope;  // not the common one: that of two layers is no place in the drawing
  fused.name = free_name(graph, fused.scope, "add_" + norm.name);
  fused.attributes = without_drawings(norm);
  fused.inputs = graph.node(add_id).inputs;
  fused.inputs.insert(fused.inputs.end(), norm.inputs.begin() + 1, norm.inputs.end());
  fused.origins = origins_of(graph, origins);
  fused.before = add_id;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(fused)));
  ORRERY_TRY(replace_value(graph, graph.node(norm_id).outputs[0], graph.node(id).outputs[1]));
  ORRERY_TRY(graph.remove_node(norm_id));
  ORRERY_TRY(replace_value(graph, graph.node(add_id).outputs[0], graph.node(id).outputs[0]));
  return graph.remove_node(add_id);
}

}  // namespace

Result<int> fuse_residual_norm(graph::Graph& graph) {
  int rewrites = 0;
  for (const NodeId id : std::vector(graph.order())) {
    const graph::Node* norm = graph.find(id);
    if (!norm || (norm->op->name != "rms_norm" && norm->op->name != "layer_norm")) continue;
    const graph::Node* add = residual_add(graph, *norm);
    if (!add) continue;
    ORRERY_TRY(fuse(graph, add->id, id));
    ++rewrites;
  }
  return rewrites;
}

}  // namespace orrery::passes
