// How two graphs differ: an edited one and the original, or two models.
#pragma once

#include <string>
#include <vector>

#include "engine/api/preview.h"

namespace orrery::api {

/// A node that one graph lacks, or that is not the same in both.
struct NodeDifference {
  struct What {
    std::string what;  // "op", "attribute eps", "dtype", "shape", "reads src"
    std::string a, b;  // empty: it has none
  };
  NodeChange::Kind kind = NodeChange::Kind::changed;  // added: b alone has it; removed: a alone
  std::string path;
  std::string op;          // in b; of a removed node in a
  std::vector<What> what;  // of a changed node
};

struct GraphDifference {
  std::vector<NodeDifference> nodes;  // in the order of b, each removed one after those it followed in a
  size_t same = 0;                    // nodes that both have alike
};

/// Aligned by path: what runs of both, weights and other sources included; what is bypassed is not there, and
/// a node of another name is another node. Ids, frames and notes do not count. Wires count by what they come
/// from, by path.
GraphDifference diff(const graph::Graph& a, const graph::Graph& b);

}  // namespace orrery::api
