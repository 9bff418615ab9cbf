// The residual stream through a scope.
#pragma once

#include "engine/edit/edit.h"

namespace orrery::edit {

/// The residual stream through one scope: the one activation that comes in and the one that is used outside.
/// Inputs of the step, weights, constants and states do not count. Refused with both shapes when they differ.
struct Stream {
  ValueId enters, leaves;
};
Result<Stream> find_stream(const graph::Graph& graph, std::string_view scope);

}  // namespace orrery::edit
