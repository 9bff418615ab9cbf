#include "engine/api/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/narrow.h"
#include "engine/edit/scope_pattern.h"

namespace orrery::api {
namespace {

using edit::NodeSet;

/// The nodes that the pattern names, of which some may be gone and some new.
Result<NodeSet> wanted_nodes(const graph::Graph& opened, const graph::Graph& now,
                             const std::string& pattern) {
  NodeSet nodes;
  const auto add = [&](const graph::Graph& graph) -> Result<void> {
    ORRERY_ASSIGN(const std::vector<std::string> scopes, edit::match_scopes(graph, pattern));
    for (const NodeId id : edit::region_of(graph, scopes).nodes) nodes.insert(id);
    return {};
  };
  const Result<void> before = add(opened), after = add(now);
  if (!before.ok() && !after.ok()) return after.error();
  return nodes;
}

bool meet(const NodeSet& a, const NodeSet& b) {
  return std::ranges::any_of(a, [&](NodeId id) { return b.contains(id); });
}

/// What an edit did, by its journal: nodes that it made, took away, set or renamed; and those that read
/// another value since.
struct Done {
  NodeSet changed, rewired;
};

Done done_by(const graph::Journal& journal) {
  using Kind = graph::Change::Kind;
  Done done;
  for (const graph::Change& change : journal.changes) {
    if (change.kind == Kind::set_input) done.rewired.insert(change.node.id);
    if (change.kind == Kind::add_node || change.kind == Kind::remove_node ||
        change.kind == Kind::set_attribute || change.kind == Kind::rename_node)
      done.changed.insert(change.node.id);
  }
  return done;
}

/// Whether an entry stays, and as what.
struct Fate {
  bool goes = false, rewires = false;
  std::optional<edit::Edit> rest;  // of one that goes: what stays of it
};

Result<std::vector<Fate>> fates_of(const History& history, const std::vector<RecipeEdit>& entries,
                                   const NodeSet& wanted) {
  graph::Graph graph = *history.opened();
  std::vector<Fate> fates(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].on) continue;
    const edit::Edit& edit = entries[i].edit;
    const bool named = meet(edit::nodes_named(graph, edit), wanted);
    if (named) fates[i].rest = edit::narrowed(graph, edit, wanted);
    ORRERY_ASSIGN(const graph::Journal journal, edit::apply(graph, edit));
    const Done done = done_by(journal);
    fates[i].goes = named || meet(done.changed, wanted);
    fates[i].rewires = meet(done.rewired, wanted);
  }
  return fates;
}

std::vector<RecipeEdit> kept(const std::vector<RecipeEdit>& entries, const std::vector<Fate>& fates,
                             bool rest) {
  std::vector<RecipeEdit> kept;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!fates[i].goes)
      kept.push_back(entries[i]);
    else if (rest && fates[i].rest)
      kept.push_back({*fates[i].rest, entries[i].recipe});
  }
  return kept;
}

/// Whether the entries can be made, or which of them needs what is not there any more.
Result<void> check(const History& history, const std::vector<RecipeEdit>& entries) {
  graph::Graph graph = *history.opened();
  for (const RecipeEdit& entry : entries) {
    if (!entry.on) continue;
    if (auto journal = edit::apply(graph, entry.edit); !journal.ok()) {
      Error error = std::move(journal).error();
      error.what = fmt::format("The later edit \"{}\" needs it: {}", entry.edit.to_string(), error.what);
      error.advice = "take that one back first";
      return error;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<RecipeEdit>> without_edits_of(const History& history, const graph::Graph& now,
                                                 const std::string& pattern) {
  ORRERY_ASSIGN(const NodeSet wanted, wanted_nodes(*history.opened(), now, pattern));
  const std::vector<RecipeEdit> entries = history.entries();
  ORRERY_ASSIGN(std::vector<Fate> fates, fates_of(history, entries, wanted));
  if (std::ranges::none_of(fates, &Fate::goes))
    for (Fate& fate : fates) fate.goes = fate.rewires;
  if (std::ranges::none_of(fates, &Fate::goes))
    return Error{ErrorCode::not_found, "No edit changes it", pattern.substr(0, 200),
                 "choose what is drawn as edited"};
  std::vector<RecipeEdit> fewer = kept(entries, fates, true);
  if (check(history, fewer).ok()) return fewer;
  fewer = kept(entries, fates, false);
  ORRERY_TRY(check(history, fewer));
  return fewer;
}

}  // namespace orrery::api
