#include "ui/placement/bypass_choices.h"

#include <algorithm>
#include <unordered_set>

#include "ui/placement/scope_words.h"

namespace orrery::ui {
namespace {

using NodeSet = std::unordered_set<NodeId>;

NodeSet liveNodes(const graph::Graph& model) {
  const std::vector<bool> live = model.live();
  NodeSet nodes;
  for (size_t i = 0; i < live.size(); ++i)
    if (live[i]) nodes.insert(model.order()[i]);
  return nodes;
}

/// The scopes of each edit that bypasses one of the nodes.
QStringList bypassesOf(const std::vector<edit::Edit>& recipe, const graph::Graph& model,
                       const std::vector<NodeId>& nodes) {
  const NodeSet wanted(nodes.begin(), nodes.end());
  QStringList scopes;
  for (const edit::Edit& edit : recipe) {
    if (edit.op != "bypass") continue;
    const QString bypassed = QString::fromStdString(edit.fields.at("scope"));
    const std::vector<NodeId> inside = nodesIn(model, bypassed);
    if (std::any_of(inside.begin(), inside.end(), [&](NodeId id) { return wanted.contains(id); }))
      scopes += bypassed;
  }
  return scopes;
}

/// What was bypassed with the thing in it; the thing itself where parts of it were.
QString bypassedAround(const QStringList& bypasses, const QString& thing) {
  for (QString scope = thing; !scope.isEmpty(); scope = outerScope(scope))
    if (std::any_of(bypasses.begin(), bypasses.end(),
                    [&](const QString& scopes) { return namesScope(scopes, scope); }))
      return scope;
  return thing;
}

struct Split {
  QStringList running, bypassed;  // bypassed: by the scopes that were
};

Split splitOf(const SessionController& source, const graph::Graph& model, const QStringList& things) {
  const NodeSet live = liveNodes(model);
  Split split;
  for (const QString& thing : things) {
    std::vector<NodeId> dead = nodesIn(model, thing);
    if (std::erase_if(dead, [&](NodeId id) { return live.contains(id); }) > 0) split.running += thing;
    if (const QStringList bypasses = bypassesOf(source.recipe(), model, dead); !bypasses.isEmpty())
      if (const QString scope = bypassedAround(bypasses, scopeWord({thing})); !split.bypassed.contains(scope))
        split.bypassed += scope;
  }
  return split;
}

QString refusalOf(const SessionController& source, const graph::Graph& model, const QString& scopes) {
  const Result<void> can = source.services().canBypass(model, scopes.toStdString());
  return can.ok() ? QString() : QString::fromStdString(can.error().to_string());
}

}  // namespace

QString BypassChoice::tip() const {
  if (!refusal.isEmpty()) return refusal;
  return restores ? QStringLiteral("The next message runs with it again; later edits stay")
                  : QStringLiteral("What enters it also leaves it; the next message runs without it");
}

Bypass bypassOf(const SessionController& source, const QStringList& things) {
  const SessionPtr session = source.session();
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  if (!model || !source.services().canBypass) return Bypass::nothing;
  const Split split = splitOf(source, *model, things);
  if (!split.running.isEmpty()) return Bypass::leavesOut;
  return split.bypassed.isEmpty() ? Bypass::nothing : Bypass::restores;
}

std::vector<BypassChoice> bypassChoices(const SessionController& source, const QString& name,
                                        const QStringList& things, const QString& around, int mostAround) {
  const SessionPtr session = source.session();
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  if (!model || !source.services().canBypass) return {};
  const auto [running, bypassed] = splitOf(source, *model, things);
  std::vector<BypassChoice> choices;
  if (!running.isEmpty()) {
    const QString scopes = scopeWord(running);
    choices.push_back({false, name, scopes, refusalOf(source, *model, scopes)});
  }
  if (!bypassed.isEmpty())
    choices.push_back({true, bypassed.size() == 1 ? bypassed.front() : name, scopeWord(bypassed), {}});
  for (QString scope = around; mostAround > 0 && !scope.isEmpty(); scope = outerScope(scope))
    if (refusalOf(source, *model, scope).isEmpty()) {
      choices.push_back({false, scope, scope, {}});
      --mostAround;
    }
  return choices;
}

}  // namespace orrery::ui
