#include "ui/session/comparison.h"

namespace orrery::ui {

ComparisonIndex::ComparisonIndex(const Comparison& comparison) : comparison_(comparison) {
  if (!comparison_) return;
  for (const api::NodeComparison& row : comparison_.result->nodes) rows_.emplace(row.node, &row);
}

void ComparisonIndex::add(SideFacts& facts, const std::string& path) const {
  const auto found = rows_.find(path);
  if (found == rows_.end()) return;
  const api::NodeComparison& row = *found->second;
  facts.aUs += row.a_us;
  facts.bUs += row.b_us;
  facts.estimated = facts.estimated || row.estimated;
  if (row.difference && !(facts.difference && facts.difference->nmse >= row.difference->nmse))
    facts.difference = row.difference;
}

SideFacts ComparisonIndex::of(const graph::Graph& shown, const graph::Graph& model,
                              std::span<const NodeId> nodes) const {
  SideFacts facts;
  for (const NodeId id : nodes) {
    const graph::Node* node = shown.find(id);
    if (!node || node->is_source()) continue;
    const graph::Node* own = model.find(id);  // drawn in an opened node, it has another path
    if (&shown == &model || node->origins.empty()) add(facts, (own ? own : node)->path());
    if (&shown == &model) continue;
    for (const graph::Origin& origin : node->origins)
      if (const graph::Node* source = model.find(origin.node)) add(facts, source->path());
  }
  return facts;
}

SideFacts ComparisonIndex::of(const graph::Graph& shown, const graph::Graph& model, NodeId node) const {
  return of(shown, model, std::span(&node, 1));
}

NodeId ComparisonIndex::find(const graph::Graph& shown, const graph::Graph& model, std::string_view path) {
  const NodeId source = model.find_path(path);
  if (&shown == &model || !source.valid()) return source;
  for (const NodeId id : shown.order())
    for (const graph::Origin& origin : shown.node(id).origins)
      if (origin.node == source) return id;
  return shown.find(source) ? source : NodeId{};
}

}  // namespace orrery::ui
