// What is bypassed, put back into the graph that runs: so that the drawing keeps it, hollow, where it was.
#pragma once

#include "engine/graph/graph.h"

namespace orrery::passes {

/// `fused` with the nodes of `model` that no output depends on, as dead there as they are in the model graph.
/// They read what became of their inputs: of a fused node the first output of the same type, rounded or not.
/// The live nodes and their order are those of `fused`; without dead nodes it is `fused` itself.
graph::GraphVersion with_bypassed(graph::GraphVersion fused, const graph::Graph& model);

}  // namespace orrery::passes
