#include "engine/passes/whole_text.h"

#include "engine/passes/match.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

Result<ValueId> sequence_starts(graph::Graph& graph) {
  const std::string name(graph::step_input::sequence_starts);
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    const std::string* input = node.op->name == "input" ? attribute<std::string>(node, "name") : nullptr;
    if (input && *input == name) return node.outputs.front();
  }
  graph::Graph::NewNode input{"input", "inputs", free_name(graph, "inputs", name), {{"name", name}}, {},
                              {},      {}};
  if (!graph.order().empty()) input.before = graph.order().front();
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(input)));
  return graph.node(id).outputs.front();
}

Result<void> replace(graph::Graph& graph, const graph::Node attention, ValueId starts) {
  const graph::Node* append = producer_of(graph, attention.inputs[1], "kv_append");
  if (!append)
    return Error{ErrorCode::unsupported, "Its keys do not come from a kv_append", attention.path(),
                 "connect its state to one"};
  if (const double* softcap = attribute<double>(attention, "softcap"); softcap && *softcap != 0)
    return Error{ErrorCode::unsupported, "Attention over a whole text has no softcap", attention.path(), ""};
  graph::Graph::NewNode packed;
  packed.op = "packed_attention";
  packed.scope = attention.scope;
  packed.name = free_name(graph, attention.scope, attention.name + "_of_text");
  packed.attributes = attention.attributes;
  packed.attributes.erase("softcap");
  packed.attributes.insert_or_assign("causal", true);
  packed.inputs = {attention.inputs[0], append->inputs[1], append->inputs[2], starts};
  packed.before = attention.id;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(packed)));
  ORRERY_TRY(replace_value(graph, attention.outputs[0], graph.node(id).outputs[0]));
  return graph.remove_node(attention.id);
}

}  // namespace

Result<graph::Graph> with_whole_text(const graph::Graph& graph) {
  graph::Graph made = graph;
  ValueId starts;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = made.node(id);
    if (node.op->name != "attention") continue;
    if (!starts.valid()) {
      ORRERY_ASSIGN(starts, sequence_starts(made));
    }
    ORRERY_TRY(replace(made, node, starts));
  }
  return made;
}

}  // namespace orrery::passes
