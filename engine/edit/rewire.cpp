#include "engine/edit/rewire.h"

#include <algorithm>

#include "engine/edit/names.h"

namespace orrery::edit {
namespace {

void ask_alike(const graph::Node& node, graph::Attributes& attributes) {
  if (node.is_source()) return;
  for (const std::string_view name : {graph::kDeviceAttribute, graph::kPrecisionAttribute})
    if (const auto asked = node.attributes.find(name); asked != node.attributes.end())
      attributes.emplace(asked->first, asked->second);
}

}  // namespace

void replace_output(const graph::Graph& graph, graph::Transaction& transaction, ValueId from, ValueId to) {
  std::vector<ValueId> outputs = graph.outputs();
  std::ranges::replace(outputs, from, to);
  if (outputs != graph.outputs()) transaction.set_outputs(std::move(outputs));
}

Result<void> replace_outside(const graph::Graph& graph, graph::Transaction& transaction, const Region& region,
                             ValueId from, ValueId to) {
  for (const graph::Use& use : graph.users(from))
    if (!region.contains(use.node)) ORRERY_TRY(transaction.set_input(use.node, use.input, to));
  replace_output(graph, transaction, from, to);
  return {};
}

NodeId next_in_order(const graph::Graph& graph, NodeId node) {
  const auto place = std::ranges::find(graph.order(), node);
  const bool last = place == graph.order().end() || place + 1 == graph.order().end();
  return last ? NodeId{} : *(place + 1);
}

Result<NodeId> insert_after(const graph::Graph& graph, graph::Transaction& transaction, Inserted inserted) {
  const ValueId value = inserted.inputs.front();
  const graph::Node& maker = graph.node(graph.value(value).producer);
  ask_alike(maker, inserted.attributes);
  Path path = split_path(inserted.path);
  const std::vector<graph::Use> readers = inserted.rewire ? graph.users(value) : std::vector<graph::Use>();
  ORRERY_ASSIGN(const NodeId id, transaction.add_node({std::move(inserted.op),
                                                       std::move(path.scope),
                                                       std::move(path.name),
                                                       std::move(inserted.attributes),
                                                       std::move(inserted.inputs),
                                                       {},
                                                       next_in_order(graph, maker.id)}));
  const ValueId result = graph.node(id).outputs.front();
  for (const graph::Use& use : readers) ORRERY_TRY(transaction.set_input(use.node, use.input, result));
  if (inserted.rewire) replace_output(graph, transaction, value, result);
  return id;
}

}  // namespace orrery::edit
