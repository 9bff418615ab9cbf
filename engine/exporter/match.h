// Whether two graphs compute the same, weight by weight: the edited one, and the one that a file would give.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::exporter {

/// Something of the edited graph that the file does not have.
struct Difference {
  std::string where, what;
};

struct Matched {
  std::vector<Difference> differences;         // a few of them; none: the graphs are the same
  std::unordered_map<NodeId, NodeId> weights;  // of the file's graph: the edited one's
  std::vector<std::string> dropped;            // settings that no file keeps
};

/// Goes through both from their outputs. What nodes are called, where they run and in what, and what is drawn
/// on them makes no difference; nor do a weight's names and type, which are what is asked for.
Matched match(const graph::Graph& edited, const graph::Graph& written);

}  // namespace orrery::exporter
