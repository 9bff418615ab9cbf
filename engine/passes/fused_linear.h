// Building a fused_linear out of linears that read the same value.
#pragma once

#include <span>
#include <string>

#include "engine/graph/graph.h"

namespace orrery::passes {

/// Most weights that one fused_linear takes.
inline constexpr size_t kMostSegments = 4;

struct FusedLinear {
  std::span<const NodeId> linears;  // one a segment, in order; all read the same value on the same device
  std::span<const NodeId> origins;  // the nodes that it stands for
  std::string scope, name, epilogue;
  NodeId before;
};
/// Adds the node, with the linears' own weights and biases. The linears stay as they are.
Result<NodeId> add_fused_linear(graph::Graph& graph, const FusedLinear& request);

}  // namespace orrery::passes
