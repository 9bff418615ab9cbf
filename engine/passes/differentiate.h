// Backward as a graph: how much a value moves with others, as nodes that run like any other.
//
// Reverse accumulation (Linnainmaa 1970; Griewank and Walther, Evaluating Derivatives, 2008): from the end of
// the graph each node turns the gradients of its outputs into those of its inputs, by the rule of its op
// (OpSchema::gradient, engine/ops/gradients.h). Gradients of a value that several nodes read are added in the
// order in which they come, from the last reader to the first, so that the same graph gives the same bits.
#pragma once

#include <span>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::passes {

/// What is differentiated: a value of one element, or any with a gradient of its own shape and type (how much
/// what comes behind it moves with each of its elements).
struct Differentiated {
  ValueId value;
  ValueId gradient = {};  // none: 1
};

struct Derivatives {
  graph::Graph graph;           // the gradients' nodes follow the others, in scopes "grad.…"
  std::vector<ValueId> values;  // by `by`: of the same shape and type, f32 of a weight stored in blocks
};

/// The graph with the gradients of `of`, summed where there are several, with respect to each value of `by`:
/// inputs, weights, constants, or what nodes make. Its outputs are those that it had. Nothing is added that
/// no gradient needs. A value of `by` on which nothing of `of` depends has a gradient of zeros.
///
/// Refused: no value of `of` depends on any of `by`; a value that is of no float type; one of more elements
/// without a gradient, and a gradient of another type; a node between them whose op has no rule (with its
/// path and its op).
Result<Derivatives> differentiate(const graph::Graph& graph, std::span<const Differentiated> of,
                                  std::span<const ValueId> by);

}  // namespace orrery::passes
