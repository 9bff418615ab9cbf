// Which device each node of a graph runs on, decided after the passes: a node runs where it is asked to
// unless no kernel there can run it, and values that are made on one device and read on another are carried
// across by transfer nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "kernels/linear.h"

namespace orrery::compile {

/// A node that runs elsewhere than it was asked to.
struct Moved {
  NodeId node;  // of the graph that runs
  std::string asked, device;
  std::string reason;  // for a person
};

struct Placement {
  graph::GraphVersion graph;
  std::vector<Moved> moved;
  std::vector<kernels::DeviceId> cards;  // that nodes run on, in the order of their ids
};

/// What decides which kernels a plan of the model asks.
struct PlacementOptions {
  std::string home = "cpu";  // where nodes without a device attribute run
  DType kv_dtype = DType::f16;
  kernels::Precision precision = kernels::Precision::balanced;
  int64_t batch_tokens = 512, batch_outputs = 64;  // of the largest step
  int threads = 1;
};

/// The model graph with the attribute taken from nodes that ask for `home` by name: the passes join them with
/// those that do not name it. The same pointer where there are none.
graph::GraphVersion without_home(graph::GraphVersion model, std::string_view home);

/// The same of the precision, whose default the nodes that do not name one have.
graph::GraphVersion without_default(graph::GraphVersion model, kernels::Precision precision);
/// The other way round: all nodes name their precision, those that did not the default. For feed hashes.
graph::GraphVersion with_default(const graph::Graph& model, kernels::Precision precision);

/// The cards that the live nodes are asked to run on, in the order of their ids.
std::vector<kernels::DeviceId> cards_asked(const graph::Graph& graph, std::string_view home);

/// Afterwards the nodes that do not run at home carry their device, and no others do; the same pointer comes
/// back when that was so already and all run at home. Nodes that touch one state run where it is written. The
/// graph is one that the passes made; the module is open when a node asks for a card.
Result<Placement> place(graph::GraphVersion fused, const PlacementOptions& options);

}  // namespace orrery::compile
