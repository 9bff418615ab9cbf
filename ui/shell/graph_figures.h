// The measurements of a profile as the graph views take them, and which nodes a person's edits touched.
#pragma once

#include <unordered_set>

#include "ui/graph/divergence_card.h"
#include "ui/graph/figures.h"
#include "ui/session/comparison.h"
#include "ui/session/scope_values.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

/// `profile` and `plan` may be null.
Figures figuresOf(ProfilePtr profile, const api::PlanReport* plan, const graph::Graph* fused, bool ofFused);
/// Both sides' times of the nodes of `shown`, the model graph or the fused graph made of it.
Figures figuresOf(const ComparisonIndex& comparison, const graph::Graph& shown, const graph::Graph& model);
/// What was measured of scopes, of the nodes of `shown`.
Figures figuresOf(const ScopeValues& values, const graph::Graph& shown, const graph::Graph& model);
/// The first node that differs, where `shown` has it.
std::optional<Divergence> divergenceOf(const ComparisonIndex& comparison, const graph::Graph& shown,
                                       const graph::Graph& model);
/// The nodes of the model graph that the recipe's scopes name.
std::unordered_set<NodeId> editedNodes(const graph::Graph& model, const std::vector<edit::Edit>& recipe);
/// The same, apart for each edit.
std::vector<std::unordered_set<NodeId>> nodesByEdit(const graph::Graph& model,
                                                    const std::vector<edit::Edit>& recipe);
std::unordered_set<NodeId> unionOf(const std::vector<std::unordered_set<NodeId>>& edits);
/// Nodes of the fused graph that hold one of `edited`.
std::unordered_set<NodeId> editedFused(const graph::Graph& fused, const std::unordered_set<NodeId>& edited);

}  // namespace orrery::ui
