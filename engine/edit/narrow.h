// Which nodes an edit is about, and the edit without some of them.
#pragma once

#include <optional>

#include "engine/edit/edit.h"
#include "engine/edit/region.h"

namespace orrery::edit {

/// What an edit names by its scopes, nodes and inputs, in the graph that it is made of.
NodeSet nodes_named(const graph::Graph& graph, const Edit& edit);

/// The edit done to fewer: without these nodes where it is done to each node, without the scopes that have
/// one of them where it is done to each scope. Nothing where none is left, or where it is done to all as one.
std::optional<Edit> narrowed(const graph::Graph& graph, const Edit& edit, const NodeSet& without);

}  // namespace orrery::edit
