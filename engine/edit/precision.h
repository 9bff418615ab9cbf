// precision scope=S dtype=P: how much the nodes of S may round what they multiply.
#pragma once

#include "engine/edit/edit.h"

namespace orrery::edit {

/// Every node but the sources in all scopes that the pattern names (a node's own path is one) is asked to
/// compute in P: "exact", "balanced", "bf16", "int16", "int8", or "default", the model's own. "*" names all
/// nodes, so that it sets what the model computes in. Refused when that changes nothing.
Result<graph::Journal> precision(graph::Graph& graph, const Edit& edit);

}  // namespace orrery::edit
