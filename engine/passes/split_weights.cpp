// split(weight) is a weight of those rows or columns: kernels read weights of the file, and the store keeps
// each part for the device that reads it.
#include <optional>

#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

/// {begin, count} of a range inside another, which may be all.
std::vector<int64_t> inside(const std::vector<int64_t>& outer, int64_t begin, int64_t count) {
  return {(outer.empty() ? 0 : outer[0]) + begin, count};
}

/// The attributes of the part's weight; none where it cannot be told so.
std::optional<graph::Attributes> part_of(const graph::Node& weight, const graph::Node& split) {
  graph::Attributes attributes = weight.attributes;
  const auto number = [&](const char* name) { return std::get<int64_t>(split.attributes.at(name)); };
  if (const int64_t* stacked = attribute<int64_t>(weight, "stacked"); stacked && *stacked > 0)
    return std::nullopt;
  const bool of_rows = number("axis") == 0;
  graph::Attribute& taken = attributes[of_rows ? "rows" : "columns"];
  const auto* range = std::get_if<std::vector<int64_t>>(&taken);
  auto* shape = std::get_if<std::vector<int64_t>>(&attributes["shape"]);
  if (!range || range->size() > 2 || !shape || shape->size() != 2) return std::nullopt;
  taken = inside(*range, number("begin"), number("count"));
  (*shape)[of_rows ? 0 : 1] = number("count");
  return attributes;
}

Result<bool> rewrite(graph::Graph& graph, const graph::Node& split) {
  if (split.op->name != "split") return false;
  const graph::Node* weight = producer_of(graph, split.inputs[0], "weight");
  const auto attributes = weight ? part_of(*weight, split) : std::nullopt;
  if (!attributes) return false;
  const NodeId old = split.id;
  graph::Graph::NewNode part;
  part.op = "weight";
  part.scope = weight->scope;
  part.name = free_name(graph, weight->scope, weight->name + "_part");
  part.attributes = *attributes;
  part.before = old;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(part)));
  ORRERY_TRY(replace_value(graph, graph.node(old).outputs[0], graph.node(id).outputs[0]));
  ORRERY_TRY(graph.remove_node(old));
  return true;
}

}  // namespace

Result<int> split_weights(graph::Graph& graph) {
  int rewrites = 0;
  const std::vector<NodeId> order = graph.order();
  for (const NodeId id : order) {
    const graph::Node* node = graph.find(id);
    if (!node) continue;
    ORRERY_ASSIGN(const bool done, rewrite(graph, *node));
    rewrites += done ? 1 : 0;
  }
  return rewrites;
}

}  // namespace orrery::passes
