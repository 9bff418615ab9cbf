// How the fake session places nodes: what `place` edits ask for, where it runs that, and the transfers.
#pragma once

#include "engine/api/types.h"
#include "engine/edit/edit.h"
#include "engine/graph/graph.h"

namespace orrery::ui::testing {

/// The graph after the `place` edits of a recipe; the others leave it as it is.
graph::GraphVersion placed(const graph::GraphVersion& graph, const std::vector<edit::Edit>& recipe);
/// Where nodes run, of those that are not at home as asked: the card has no row for norms.
std::vector<api::NodePlacement> placementOf(const graph::Graph& model, const std::string& home);
/// What runs: every node with the device that it runs on, and a transfer where a value changes devices.
graph::GraphVersion withTransfers(const graph::Graph& model, const std::string& home);

}  // namespace orrery::ui::testing
