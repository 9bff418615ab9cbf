// What a graph keeps of a text follows from what runs: verbs that change wiring settle it at their end.
#pragma once

#include "engine/graph/transaction.h"

namespace orrery::edit {

/// The final state of every live node that writes one becomes an output of the graph, and no other state is
/// one: what a person took out keeps nothing, and what was connected goes on with its text. Of a state that
/// is read without being written by what reads it, what writes it beside stays. A graph whose outputs are
/// states alone stays as it is.
void settle_states(const graph::Graph& graph, graph::Transaction& transaction);

}  // namespace orrery::edit
