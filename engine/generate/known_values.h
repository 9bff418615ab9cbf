// What a step over a text made at some places of a graph, so that a graph that differs from it reads the same
// text from there on.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/runtime/step_batch.h"
#include "engine/weights/weight_store.h"

namespace orrery::generate {

class KnownValues {
 public:
  /// The float32 activations from which the rest of the graph follows: those that cross from one node to the
  /// next at the narrower half of all places. In a step of these sizes they take at most so many bytes: of
  /// more, places are left out evenly.
  static std::vector<ValueId> worth_keeping(const graph::Graph& graph, const Bindings& sizes,
                                            uint64_t most_bytes);

  /// The values that cross a place alone, in order: all that follows is made of one of them, as in a residual
  /// stream.
  static std::vector<ValueId> stream(const graph::Graph& graph);

  /// Elements of a value whose Graph::feed_hash that is.
  Result<void> add(uint64_t hash, std::span<const std::byte> elements);

  /// A graph without what makes the known values, which are given to it.
  struct Rest {
    graph::GraphVersion graph;          // node and value ids are those of the whole one
    std::vector<runtime::Given> given;  // of bytes that lie here
  };
  /// Of a graph that is asked for some of its values, and gives no others. Values are known by what feeds
  /// them, so that it may be any version of the graph whose values these are.
  Result<Rest> rest_of(const graph::Graph& graph, std::span<const ValueId> wanted) const;

 private:
  std::unordered_map<uint64_t, weights::Buffer> values_;
};

}  // namespace orrery::generate
