// delete scope=S: the nodes of S leave the graph. What their readers read instead is what entered, where one
// stream passes through.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/edit/edit.h"
#include "engine/edit/region.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/states.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kAdvice = "connect what reads it to another value first";

/// Sources that others read too stay: a tied table, a state that is written elsewhere.
Region without_shared_sources(const graph::Graph& graph, const Region& region) {
  std::vector<NodeId> nodes;
  for (const NodeId id : region.nodes) {
    const graph::Node& node = graph.node(id);
    const std::vector<graph::Use> users = graph.users(node.outputs.front());
    const bool shared = node.is_source() && std::ranges::any_of(users, [&](const graph::Use& use) {
                          return !region.contains(use.node);
                        });
    if (!shared) nodes.push_back(id);
  }
  return region_of(graph, std::move(nodes));
}

using Nodes = std::vector<NodeId>;

/// The parts of a region that no activation or state joins.
std::vector<Nodes> parts_of(const graph::Graph& graph, const Region& region) {
  std::unordered_map<NodeId, size_t> part_of;
  std::vector<Nodes> parts;
  for (const NodeId id : region.nodes) {  // what it reads comes first
    size_t own = parts.size();
    parts.push_back({id});
    part_of[id] = own;
    for (const ValueId input : graph.node(id).inputs) {
      if (!input.valid()) continue;
      const graph::Value& value = graph.value(input);
      const bool joins = value.kind == graph::ValueKind::activation || value.kind == graph::ValueKind::state;
      const auto other = part_of.find(value.producer);
      if (!joins || other == part_of.end() || other->second == own) continue;
      const size_t into = other->second;
      for (const NodeId moved : parts[own]) part_of[moved] = into;
      parts[into].insert(parts[into].end(), parts[own].begin(), parts[own].end());
      parts[own].clear();
      own = into;
    }
  }
  std::erase_if(parts, [](const Nodes& nodes) { return nodes.empty(); });
  return parts;
}

/// A value of a part that is read outside of all that goes: by a node, or by whoever runs the graph.
struct Leaving {
  ValueId value;
  NodeId reader;  // none: it is an output of the graph
};

std::vector<Leaving> leaving(const graph::Graph& graph, const Nodes& part, const Region& all) {
  std::vector<Leaving> values;
  for (const NodeId id : part)
    for (const ValueId output : graph.node(id).outputs) {
      for (const graph::Use& use : graph.users(output))
        if (!all.contains(use.node)) values.push_back({output, use.node});
      if (graph.value(output).kind != graph::ValueKind::state && is_output(graph, output))
        values.push_back({output, {}});
    }
  return values;
}

Error still_read(const graph::Graph& graph, const Leaving& left, std::string advice) {
  return {ErrorCode::invalid_argument,
          left.reader.valid()
              ? fmt::format("{} reads {}", graph.node(left.reader).path(), described(graph, left.value))
              : fmt::format("{} is a result of the graph", described(graph, left.value)),
          graph.node(graph.value(left.value).producer).path(), std::move(advice)};
}

/// The one activation that enters a part, which its readers take instead. Of a part that runs what its
/// bypassed nodes read does not count.
Result<ValueId> entering(const graph::Graph& graph, const Nodes& nodes, const Leaving& left) {
  const Region part{nodes, NodeSet(nodes.begin(), nodes.end())};
  const NodeSet live = live_nodes(graph);
  const bool runs = std::ranges::any_of(nodes, [&](NodeId id) { return live.contains(id); });
  const Border border = border_of(graph, part, runs ? live : part.inside);
  if (border.entering.size() == 1) return border.entering.front();
  Error error = still_read(graph, left, std::string(kAdvice));
  error.what += border.entering.empty()
                    ? ", and no activation enters that it could read instead"
                    : fmt::format(", and {} activations enter, not one: {}", border.entering.size(),
                                  described(graph, border.entering));
  return error;
}

Result<void> reconnect(const graph::Graph& graph, graph::Transaction& transaction, const Nodes& part,
                       const Region& all) {
  const std::vector<Leaving> left = leaving(graph, part, all);
  if (left.empty()) return {};
  ORRERY_ASSIGN(const ValueId enters, entering(graph, part, left.front()));
  for (const Leaving& value : left)
    if (graph.value(value.value).type != graph.value(enters).type) {
      Error error = still_read(graph, value, std::string(kAdvice));
      error.code = ErrorCode::shape_mismatch;
      error.what += fmt::format(", and what enters is {}", described(graph, enters));
      return error;
    }
  for (const Leaving& value : left) ORRERY_TRY(replace_outside(graph, transaction, all, value.value, enters));
  return {};
}

Result<void> remove(const graph::Graph& graph, graph::Transaction& transaction, const Region& region) {
  std::vector<ValueId> outputs = graph.outputs();
  std::erase_if(outputs, [&](ValueId output) { return region.contains(graph.value(output).producer); });
  if (outputs != graph.outputs()) transaction.set_outputs(std::move(outputs));
  for (size_t i = region.nodes.size(); i-- > 0;)  // readers first
    ORRERY_TRY(transaction.remove_node(region.nodes[i]));
  return {};
}

Result<graph::Journal> delete_nodes(graph::Graph& graph, const Edit& edit) {
  const std::string& pattern = edit.fields.at("scope");
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  const Region named = region_of(graph, scopes), region = without_shared_sources(graph, named);
  if (region.nodes.empty()) {
    const ValueId value = graph.node(named.nodes.front()).outputs.front();
    return still_read(graph, {value, graph.users(value).front().node}, "delete what reads it too");
  }
  graph::Transaction transaction(graph, "delete " + pattern);
  if (edit.fields.at("reconnect") == "true") {
    for (const Nodes& part : parts_of(graph, region)) ORRERY_TRY(reconnect(graph, transaction, part, region));
  } else if (const std::vector<Leaving> left = leaving(graph, region.nodes, region); !left.empty()) {
    return still_read(graph, left.front(),
                      "delete with reconnect=true, or connect it to another value first");
  }
  ORRERY_TRY(remove(graph, transaction, region));
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

}  // namespace

Verb delete_verb() {
  static constexpr Field kFields[] = {
      {.name = "scope", .kind = FieldKind::scopes, .doc = "what leaves the graph", .spread = Spread::scopes},
      {"reconnect", FieldKind::flag,
       "what reads it reads what enters it instead, where one stream passes through", false, "true"}};
  return {"delete", "the nodes of the scope leave the graph", kFields, delete_nodes};
}

}  // namespace orrery::edit
