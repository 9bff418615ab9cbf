#include "engine/edit/narrow.h"

#include <algorithm>

#include "engine/edit/names.h"
#include "engine/edit/scope_pattern.h"

namespace orrery::edit {
namespace {

std::vector<std::string> scopes_in(const graph::Graph& graph, const std::string& pattern) {
  auto scopes = match_scopes(graph, pattern);
  return scopes.ok() ? std::move(scopes).value() : std::vector<std::string>();
}

/// The scopes and nodes right below a scope.
std::vector<std::string> children(const graph::Graph& graph, const std::string& scope) {
  std::vector<std::string> names;
  for (const NodeId id : graph.in_scope(scope)) {
    const std::string path = graph.node(id).path();
    if (path.size() == scope.size()) continue;  // the node itself
    std::string name = path.substr(0, path.find('.', scope.size() + 1));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// The scope, or as much of it as has none of these nodes.
void keep_others(const graph::Graph& graph, const std::string& scope, const NodeSet& without, Spread spread,
                 std::vector<std::string>& kept) {
  const std::vector<NodeId> nodes = graph.in_scope(scope);
  const auto goes = [&](NodeId id) { return without.contains(id); };
  if (std::ranges::none_of(nodes, goes)) return kept.push_back(scope);
  if (spread != Spread::nodes || std::ranges::all_of(nodes, goes) || graph.find_path(scope).valid()) return;
  for (const std::string& child : children(graph, scope)) keep_others(graph, child, without, spread, kept);
}

}  // namespace

NodeSet nodes_named(const graph::Graph& graph, const Edit& edit) {
  NodeSet nodes;
  const auto add = [&](const std::string& scope) {
    const std::vector<NodeId> inside = graph.in_scope(scope);
    nodes.insert(inside.begin(), inside.end());
  };
  const Verb* verb = find_verb(edit.op);
  for (const auto& [name, text] : edit.fields) {
    const Field* field = verb ? verb->field(name) : nullptr;
    if (!field || text.empty()) continue;
    if (field->kind == FieldKind::scopes)
      for (const std::string& scope : scopes_in(graph, text)) add(scope);
    else if (field->kind == FieldKind::node)
      add(text);
    else if (field->kind == FieldKind::input)
      if (const auto place = find_input(graph, text); place.ok()) nodes.insert(place->node);
  }
  return nodes;
}

std::optional<Edit> narrowed(const graph::Graph& graph, const Edit& edit, const NodeSet& without) {
  const Verb* verb = find_verb(edit.op);
  for (const auto& [name, text] : edit.fields) {
    const Field* field = verb ? verb->field(name) : nullptr;
    if (!field || field->kind != FieldKind::scopes || field->spread == Spread::whole) continue;
    std::vector<std::string> kept;
    for (const std::string& scope : scopes_in(graph, text))
      keep_others(graph, scope, without, field->spread, kept);
    if (kept.empty()) return std::nullopt;
    Edit fewer = edit;
    std::string& scopes = fewer.fields[name];
    scopes.clear();
    for (const std::string& scope : kept) (scopes += scopes.empty() ? "" : ",") += scope;
    return fewer;
  }
  return std::nullopt;
}

}  // namespace orrery::edit
