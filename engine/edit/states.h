// What a graph keeps of a text follows from what runs: verbs that change wiring settle it at their end.
#pragma once

#include "engine/graph/transaction.h"

namespace orrery::edit {

/// The final state of every live node that writes one becomes an output of the graph, and no other state is
/// one: what a person took out keeps nothing, and what was connected goes on with its text. States are
/// changed in place, so a live node that reads one must read what the last live writer made of it: refused
/// otherwise. A graph whose outputs are states alone stays as it is.
Result<void> settle_states(const graph::Graph& graph, graph::Transaction& transaction);

}  // namespace orrery::edit
