// An edited graph with all that weights can express in the weights: what is left is compared with what a file
// gives.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/weights/weight_store.h"

namespace orrery::exporter {

/// What is done to a weight's values before they are written.
struct Step {
  enum class Kind : uint8_t {
    scale_rows,     // row r times factors[r]; of a vector its elements
    scale_columns,  // column c times factors[c]
    add,            // factors is added to a vector
    low_rank        // factor * B A is added to a matrix
  };
  Kind kind;
  std::vector<float> factors = {};
  double factor = 1.0;
  weights::WeightView a = "", b = "";

  /// Whether it only takes rows or columns out: factors of 0 and 1.
  bool is_mask() const;
};

struct Folded {
  graph::Graph graph;                                        // its live nodes
  std::unordered_map<NodeId, std::vector<Step>> steps = {};  // by weight node, in their order
  std::unordered_set<NodeId> made = {};   // weight nodes of biases that the model does not have: zeros
  std::vector<std::string> dropped = {};  // what no file keeps, for the person
};

/// Takes out of a copy of the graph what is bypassed, probes, and what can be told in weights instead:
///   adapters beside a linear
///   factors, and rows of zeros and ones, of what a linear makes, or of what only linears read
///   vectors that are added to what a linear or a layer norm makes, directly or by a residual sum
/// What cannot stays as it is, and so does what the model has had since it was opened, or is a copy of that:
/// the file gives it again. Fails where a vector's file cannot be read.
Result<Folded> fold(const graph::Graph& edited, const graph::Graph& opened, weights::WeightStore& weights,
                    kernels::ThreadTeam& team);

}  // namespace orrery::exporter
