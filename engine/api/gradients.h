// Gradients of a graph of one's own, which are nodes of it like any other (engine/passes/differentiate.h).
#pragma once

#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::api {

/// A value as a graph's file calls it: its node's path, with ":output" where the node has several. Refused
/// where there is none.
Result<ValueId> find_value(const graph::Graph& graph, const std::string& name);

/// What a graph is given or keeps that holds floats: its inputs, its weights.
std::vector<ValueId> float_sources(const graph::Graph& graph);

/// The graph of a value's gradients, which come after its outputs: of one element (how much it moves), or of
/// several with the value that is its gradient. Names are "grad_" before those of `by`.
struct GradientGraph {
  graph::GraphVersion graph;
  std::vector<std::string> names;  // of the outputs that came to it
};
struct GradientEnd {
  ValueId value;
  ValueId gradient = {};
};
Result<GradientGraph> with_gradients(const graph::Graph& graph, const std::vector<GradientEnd>& of,
                                     const std::vector<ValueId>& by);

}  // namespace orrery::api
