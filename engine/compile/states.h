// The states (KV caches) of a graph: where each begins, and what it holds at the end of a step.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/graph.h"
#include "kernels/row.h"

namespace orrery::compile {

struct StateUse {
  NodeId source;  // the "state" node: the same id in the model graph and in the graph that passes made of it
  ValueId initial;  // its value
  ValueId last;     // the graph output that follows from it; none when the step does not change it
  int64_t kv_heads = 0, head_dim = 0;
  std::optional<kernels::DeviceKind> device = {};  // where the nodes run that touch it; none: at home
};

/// In the order of the live state nodes, which is the state index of every plan of this graph.
Result<std::vector<StateUse>> states_of(const graph::Graph& graph);

/// Bytes that all states keep for `tokens` tokens of one sequence, elements of `dtype`; 0 without states.
uint64_t kv_cache_bytes(const graph::Graph& graph, DType dtype, int64_t tokens);

}  // namespace orrery::compile
