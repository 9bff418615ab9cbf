// Removes every node that no output depends on, sources included.
#include "engine/passes/pass_list.h"

namespace orrery::passes {

Result<int> remove_dead_nodes(graph::Graph& graph) {
  const std::vector<bool> live = graph.live();
  const std::vector<NodeId> order = graph.order();
  int rewrites = 0;
  for (size_t i = order.size(); i-- > 0;) {  // users first
    if (live[i]) continue;
    ORRERY_TRY(graph.remove_node(order[i]));
    ++rewrites;
  }
  return rewrites;
}

}  // namespace orrery::passes
