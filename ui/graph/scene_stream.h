// The residual stream of a run of layers, found in the graph alone: the value that each layer takes, adds to
// and gives on. Standard library only.
//
// Going back from what leaves the last layer, the stream's way through a node that adds is the operand from
// which the other one was computed. So it is found whatever the ops are called, before fusion and after it,
// where an addition has become half of the next layer's norm.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "ui/graph/scene_graph.h"

namespace orrery::ui {

/// Which nodes take a value from the stream, or add it to it.
class StreamUses {
 public:
  void add(ValueId value, NodeId user) { uses_.insert(keyOf(value, user)); }
  bool contains(ValueId value, NodeId user) const { return uses_.contains(keyOf(value, user)); }

 private:
  static uint64_t keyOf(ValueId value, NodeId user) { return (uint64_t{value.value} << 32) | user.value; }
  std::unordered_set<uint64_t> uses_;
};

/// Finds the runs of a scene whose groups and nodes are made, and their streams: sets `runs`, the groups' run
/// and layer, the nodes' `stream`.
StreamUses traceStreams(SceneGraph& scene);

}  // namespace orrery::ui
