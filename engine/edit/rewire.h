// How verbs change what reads what.
#pragma once

#include <string>
#include <vector>

#include "engine/edit/region.h"
#include "engine/graph/transaction.h"

namespace orrery::edit {

/// Whoever reads a value outside the region, live or bypassed, and the graph's outputs take another one.
Result<void> replace_outside(const graph::Graph& graph, graph::Transaction& transaction, const Region& region,
                             ValueId from, ValueId to);
/// Of the graph's outputs alone.
void replace_output(const graph::Graph& graph, graph::Transaction& transaction, ValueId from, ValueId to);

/// The node that stands after another in the order; none after the last.
NodeId next_in_order(const graph::Graph& graph, NodeId node);

/// A node that reads a value first. It stands right after what makes the value, as far as its other inputs
/// allow, and is asked to run where and in what that is, unless its attributes say otherwise.
struct Inserted {
  std::string op, path;
  graph::Attributes attributes = {};
  std::vector<ValueId> inputs;  // the first one is the value
  bool rewire = true;           // all who read the value read the node instead
};
Result<NodeId> insert_after(const graph::Graph& graph, graph::Transaction& transaction, Inserted inserted);

}  // namespace orrery::edit
