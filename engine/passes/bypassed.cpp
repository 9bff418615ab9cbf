#include "engine/passes/bypassed.h"

#include <unordered_map>
#include <unordered_set>

namespace orrery::passes {
namespace {

/// By node of the model graph the node that runs for it.
using Owners = std::unordered_map<NodeId, NodeId>;

Owners owners_of(const graph::Graph& fused) {
  Owners owners;
  for (const NodeId id : fused.order()) {
    owners.emplace(id, id);
    for (const graph::Origin& origin : fused.node(id).origins) owners.emplace(origin.node, id);
  }
  return owners;
}

ValueId became_of(const graph::Graph& drawn, const graph::Graph& model, const Owners& owners, ValueId value) {
  if (!value.valid() || drawn.find_value(value)) return value;
  const graph::Value& wanted = model.value(value);
  const auto owner = owners.find(wanted.producer);
  if (owner == owners.end()) return {};
  const graph::Node& ran = drawn.node(owner->second);
  for (const ValueId output : ran.outputs) {
    const graph::ValueType& type = drawn.value(output).type;
    const bool rounded = stored_as(ran) && wanted.type.dtype == DType::f32;
    if (type.shape == wanted.type.shape && (rounded || type.dtype == wanted.type.dtype)) return output;
  }
  return {};
}

/// The dead nodes that compute something, and the sources that only they read.
std::unordered_set<NodeId> bypassed_nodes(const graph::Graph& model, const std::vector<bool>& live) {
  std::unordered_set<NodeId> nodes;
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = model.node(model.order()[i]);
    if (live[i] || node.is_source()) continue;
    nodes.insert(node.id);
    for (const ValueId input : node.inputs)
      if (input.valid()) nodes.insert(model.value(input).producer);
  }
  return nodes;
}

}  // namespace

graph::GraphVersion with_bypassed(graph::GraphVersion fused, const graph::Graph& model) {
  const std::unordered_set<NodeId> wanted = bypassed_nodes(model, model.live());
  if (wanted.empty()) return fused;
  auto drawn = std::make_shared<graph::Graph>(*fused);
  Owners owners = owners_of(*fused);
  // Where each node stands: before the next one that is there.
  std::vector<NodeId> places(model.order().size());
  NodeId next;
  for (size_t i = places.size(); i-- > 0;) {
    places[i] = next;
    if (const auto owner = owners.find(model.order()[i]); owner != owners.end()) next = owner->second;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const NodeId id = model.order()[i];
    if (!wanted.contains(id) || owners.contains(id)) continue;
    std::vector<ValueId> inputs = model.node(id).inputs;
    for (ValueId& input : inputs) input = became_of(*drawn, model, owners, input);
    drawn->bring_back(model, id, std::move(inputs), places[i]);
    owners.emplace(id, id);
  }
  return drawn;
}

}  // namespace orrery::passes
