// What the passes share when they replace nodes: uses, names, scopes, origins.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::passes {

/// Every user of `from`, and the graph's outputs, take `to` instead.
Result<void> replace_value(graph::Graph& graph, ValueId from, ValueId to);

/// "layers.3" for "layers.3.attention" and "layers.3.mlp"; empty when they share nothing.
std::string common_scope(const graph::Graph& graph, std::span<const NodeId> nodes);

/// `name`, or with "_2", "_3", ... after it when the path is taken.
std::string free_name(const graph::Graph& graph, const std::string& scope, const std::string& name);

/// Whether both are asked to run on the same device and in the same precision: only such nodes are joined.
bool asked_alike(const graph::Node& a, const graph::Node& b);
/// The attributes of a node for what stands for it and others: what is drawn on it stays with it.
graph::Attributes without_drawings(const graph::Node& node);
/// Gives what stands for the node its device and its precision.
void keep_asked(const graph::Node& node, graph::Attributes& attributes);

/// The nodes as origins of one fused node. The share of each is its part of the modelled time of one token,
/// the larger of bytes / 35 GB/s and flops / 400 GFLOP/s; an origin that is fused itself is replaced by its
/// own origins. Nodes that cost nothing share equally.
std::vector<graph::Origin> origins_of(const graph::Graph& graph, std::span<const NodeId> nodes);

/// The text or the number of an attribute; nothing when absent or of another type.
template <class T>
const T* attribute(const graph::Node& node, std::string_view name) {
  const auto it = node.attributes.find(name);
  return it == node.attributes.end() ? nullptr : std::get_if<T>(&it->second);
}

}  // namespace orrery::passes
