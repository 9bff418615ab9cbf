#include "engine/edit/scope_attribute.h"

#include "engine/edit/scope_pattern.h"

namespace orrery::edit {

Result<graph::Journal> set_in_scopes(graph::Graph& graph, const ScopeAttribute& wanted) {
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, wanted.pattern));
  const std::optional<graph::Attribute> value = wanted.value;
  graph::Transaction transaction(graph, wanted.name);
  int nodes = 0, changed = 0;
  for (const std::string& scope : scopes)
    for (const NodeId id : graph.in_scope(scope)) {
      const graph::Node& node = graph.node(id);
      if (node.is_source()) continue;
      ++nodes;
      const auto now = node.attributes.find(wanted.attribute);
      if (value ? now != node.attributes.end() && now->second == *value : now == node.attributes.end())
        continue;
      ORRERY_TRY(transaction.set_attribute(id, std::string(wanted.attribute), value));
      ++changed;
    }
  if (nodes == 0)
    return Error{ErrorCode::invalid_argument, "Nothing runs in it", wanted.pattern, wanted.nothing};
  if (changed == 0) return Error{ErrorCode::invalid_argument, wanted.unchanged, wanted.pattern, ""};
  return transaction.commit();
}

}  // namespace orrery::edit
