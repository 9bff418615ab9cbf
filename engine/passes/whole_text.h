// A decoder that reads a whole text in one step, from nothing that was read before.
#pragma once

#include "engine/graph/graph.h"

namespace orrery::passes {

/// Attention over what a state keeps becomes attention over the step's own keys and values (causal
/// packed_attention), convolutions and scans over records are spelled out over its own tokens (gathers, a
/// recurrence), so that all are values of the graph like any other: a step that begins its texts gives the
/// same numbers. The states are bypassed by then. Refused where packed_attention has no such thing (softcap),
/// and where keys do not come from a kv_append.
Result<graph::Graph> with_whole_text(const graph::Graph& graph);

}  // namespace orrery::passes
