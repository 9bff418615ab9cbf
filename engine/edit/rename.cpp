// rename node=N to=NAME: another name in the same scope. What stands below goes with it.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> rename(graph::Graph& graph, const Edit& edit) {
  const std::string &from = edit.fields.at("node"), &name = edit.fields.at("to");
  const std::vector<NodeId> nodes = graph.in_scope(from);
  if (nodes.empty()) return find_node(graph, from).error();
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), from.substr(0, 200), std::move(advice)};
  };
  if (name.find('.') != std::string::npos)
    return refuse(fmt::format("\"{}\" is not a name within a scope", name.substr(0, 80)),
                  "leave the dots out: a node stays in its scope");
  const std::string scope = split_path(from).scope, to = scope.empty() ? name : scope + "." + name;
  if (to == from) return refuse("It has that name already", "");
  ORRERY_TRY(check_free(graph, to));
  graph::Transaction transaction(graph, fmt::format("rename {} to {}", from, name));
  for (const NodeId id : nodes) {
    Path path = moved_path(graph.node(id), from, to);
    ORRERY_TRY(transaction.rename_node(id, std::move(path.scope), std::move(path.name)));
  }
  return transaction.commit();
}

}  // namespace

Verb rename_verb() {
  static constexpr Field kFields[] = {
      {"node", FieldKind::node, "path of a node, or of a scope with all that is in it"},
      {"to", FieldKind::name, "its new name, in the scope where it is"}};
  return {"rename", "another name for a node or a scope", kFields, rename};
}

}  // namespace orrery::edit
