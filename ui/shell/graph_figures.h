// The measurements of a profile as the graph views take them, and which nodes a person's edits touched.
#pragma once

#include <unordered_set>

#include "engine/api/session.h"
#include "ui/graph/figures.h"

namespace orrery::ui {

/// `plan` may be null.
Figures figuresOf(const api::Profile& profile, const api::PlanReport* plan, const graph::Graph* fused,
                  bool ofFused);
/// The nodes of the model graph that the recipe's scopes name.
std::unordered_set<NodeId> editedNodes(const graph::Graph& model, const std::vector<edit::Edit>& recipe);
/// Nodes of the fused graph that hold one of `edited`.
std::unordered_set<NodeId> editedFused(const graph::Graph& fused, const std::unordered_set<NodeId>& edited);

}  // namespace orrery::ui
