#include "ui/shell/graph_figures.h"

#include "ui/placement/scope_words.h"

namespace orrery::ui {
namespace {

using Kernels = std::unordered_map<NodeId, QString>;

/// By the node shown: a node of the model graph has the kernel of the fused node that it went into.
Kernels kernelsOf(const api::PlanReport& plan, const graph::Graph* fused, bool ofFused) {
  Kernels kernels;
  for (const api::PlanStep& step : plan.steps) {
    const QString kernel = QString::fromStdString(step.kernel);
    kernels[step.node] = kernel;
    const graph::Node* node = ofFused || !fused ? nullptr : fused->find(step.node);
    if (!node) continue;
    for (const graph::Origin& origin : node->origins) kernels[origin.node] = kernel;
  }
  return kernels;
}

}  // namespace

Figures figuresOf(ProfilePtr profile, const api::PlanReport* plan, const graph::Graph* fused, bool ofFused) {
  return {std::move(profile), ofFused, {}, plan ? kernelsOf(*plan, fused, ofFused) : Kernels()};
}

Figures figuresOf(const ComparisonIndex& comparison, const graph::Graph& shown, const graph::Graph& model) {
  Figures figures;
  if (!comparison.comparison()) return figures;
  for (const NodeId id : shown.order()) {
    const SideFacts facts = comparison.of(shown, model, id);
    if (facts.aUs > 0 || facts.bUs > 0) figures.sides[id] = {facts.aUs, facts.bUs, facts.estimated};
  }
  return figures;
}

Figures figuresOf(const ScopeValues& values, const graph::Graph& shown, const graph::Graph& model) {
  Figures figures;
  figures.measures = {values.title(), values.low(), values.high(), {}};
  for (const NodeId id : shown.order())
    if (const auto value = values.of(shown, model, id))
      figures.measures.nodes[id] = {*value, values.place(*value)};
  return figures;
}

std::optional<Divergence> divergenceOf(const ComparisonIndex& comparison, const graph::Graph& shown,
                                       const graph::Graph& model) {
  const ComparePtr& result = comparison.comparison().result;
  if (!result || result->first_divergent.empty()) return std::nullopt;
  const NodeId node = ComparisonIndex::find(shown, model, result->first_divergent);
  for (const api::NodeComparison& row : result->nodes)
    if (row.node == result->first_divergent && row.difference && node.valid())
      return Divergence{node, QString::fromStdString(row.node), row.difference->max_abs, row.difference->nmse,
                        row.difference->cosine};
  return std::nullopt;
}

std::vector<std::unordered_set<NodeId>> nodesByEdit(const graph::Graph& model,
                                                    const std::vector<edit::Edit>& recipe) {
  std::vector<std::unordered_set<NodeId>> edits;
  for (const edit::Edit& edit : recipe) {
    std::unordered_set<NodeId>& edited = edits.emplace_back();
    for (const char* field : {"scope", "node", "as"}) {
      const auto value = edit.fields.find(field);
      if (value == edit.fields.end()) continue;
      const std::vector<NodeId> nodes = nodesIn(model, QString::fromStdString(value->second));
      edited.insert(nodes.begin(), nodes.end());
    }
  }
  return edits;
}

std::unordered_set<NodeId> unionOf(const std::vector<std::unordered_set<NodeId>>& edits) {
  std::unordered_set<NodeId> edited;
  for (const std::unordered_set<NodeId>& edit : edits) edited.insert(edit.begin(), edit.end());
  return edited;
}

std::unordered_set<NodeId> editedNodes(const graph::Graph& model, const std::vector<edit::Edit>& recipe) {
  return unionOf(nodesByEdit(model, recipe));
}

std::unordered_set<NodeId> editedFused(const graph::Graph& fused, const std::unordered_set<NodeId>& edited) {
  std::unordered_set<NodeId> result;
  for (const NodeId id : fused.order()) {
    if (edited.contains(id)) result.insert(id);
    for (const graph::Origin& origin : fused.node(id).origins)
      if (edited.contains(origin.node)) result.insert(id);
  }
  return result;
}

}  // namespace orrery::ui
