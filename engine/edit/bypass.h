// bypass scope=S: what enters S also leaves it. The nodes stay in the model graph, dead; the dead-node pass
// takes them out of what runs.
#pragma once

#include "engine/edit/edit.h"

namespace orrery::edit {

/// The residual stream through one scope: the one activation that comes in and the one that is used outside.
/// Inputs of the step, weights, constants and states do not count. Refused with both shapes when they differ.
struct Stream {
  ValueId enters, leaves;
};
Result<Stream> find_stream(const graph::Graph& graph, std::string_view scope);

/// All scopes that the pattern names, in one journal; the final states of what is bypassed are outputs no
/// more.
Result<graph::Journal> bypass(graph::Graph& graph, const Edit& edit);

}  // namespace orrery::edit
