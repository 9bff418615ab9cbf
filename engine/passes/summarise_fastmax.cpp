// kv_append and attention over a state that keeps a summary -> fastmax_scan, which takes the step's tokens in
// one after another and answers each from what there is then. It is no fusion that may be left out: the two
// alone cannot run, as a summary does not tell its tokens apart.
#include <array>

#include "engine/ops/state_kind.h"
#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

/// The kv_append of the summary that an attention alone reads.
const graph::Node* summary_append(const graph::Graph& graph, const graph::Node& attention) {
  const graph::Node* append = producer_of(graph, attention.inputs[1], "kv_append");
  const graph::Node* state = append ? producer_of(graph, append->inputs[0], "state") : nullptr;
  if (!state || !ops::keeps_summary(state->attributes)) return nullptr;
  return graph.users(append->outputs[0]).size() == 1 ? append : nullptr;
}

Result<void> scan(graph::Graph& graph, NodeId append_id, NodeId attention_id) {
  const graph::Node &append = graph.node(append_id), &attention = graph.node(attention_id);
  const std::array origins = {append_id, attention_id};
  graph::Graph::NewNode made;
  made.op = "fastmax_scan";
  made.scope = attention.scope;
  made.name = free_name(graph, made.scope, attention.name + "_scan");
  made.attributes = without_drawings(attention);
  for (const char* name : {"kind", "window", "softcap"}) made.attributes.erase(name);
  made.inputs = {append.inputs[0], attention.inputs[0], append.inputs[1], append.inputs[2]};
  made.origins = origins_of(graph, origins);
  made.before = attention_id;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(made)));
  ORRERY_TRY(replace_value(graph, graph.node(attention_id).outputs[0], graph.node(id).outputs[0]));
  ORRERY_TRY(graph.remove_node(attention_id));
  ORRERY_TRY(replace_value(graph, graph.node(append_id).outputs[0], graph.node(id).outputs[1]));
  return graph.remove_node(append_id);
}

}  // namespace

Result<int> summarise_fastmax(graph::Graph& graph) {
  int rewrites = 0;
  for (const NodeId id : std::vector(graph.order())) {
    const graph::Node* attention = graph.find(id);
    if (!attention || attention->op->name != "attention") continue;
    const graph::Node* append = summary_append(graph, *attention);
    if (!append) continue;
    ORRERY_TRY(scan(graph, append->id, id));
    ++rewrites;
  }
  return rewrites;
}

}  // namespace orrery::passes
