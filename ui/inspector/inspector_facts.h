// What the inspector says of a node or a scope, as values; computed from the graph, the plan and the profile.
#pragma once

#include <QString>
#include <optional>
#include <span>
#include <vector>

#include "engine/api/profile.h"
#include "engine/graph/graph.h"

namespace orrery::ui {

struct ValueRow {
  QString role;  // in, W, state, out
  QString name, shape, dtype;
  double bytes = 0;  // 0: not known
  NodeId producer;   // of an input
  QString brief;     // of a tensor, what tells it from its neighbours; else empty
};

struct OriginRow {
  NodeId node;  // of the model graph
  QString path;
  double share = 0;
};

struct NodeFacts {
  NodeId id;
  QString name, scope, op, doc;
  graph::OpFamily family = graph::OpFamily::custom;
  QString dtype;  // of the heaviest weight, else of the first output
  bool bypassed = false;
  std::vector<ValueRow> values;
  std::vector<std::pair<QString, QString>> attributes;
  std::vector<OriginRow> origins;  // empty: not fused
};

/// How much of something a second, and what the machine could.
struct Speed {
  double perSecond = 0, limit = 0;  // 0: not known
  double share() const { return limit > 0 ? perSecond / limit : 0; }
};

struct TimeFacts {
  api::Timing timing;
  Speed bytes, flops;
  double share = 0;  // of the step
  bool estimated = false;
};

struct ScopeFacts {
  QString scope;
  int nodes = 0, bypassed = 0;  // those that nothing depends on are among them
  uint64_t weightBytes = 0;
};

/// `bindings`: tokens, sequences and outputs of the step whose bytes are shown.
std::optional<NodeFacts> nodeFacts(const graph::Graph& graph, const graph::Graph* model, NodeId node,
                                   const Bindings& bindings);
/// Of a drawn tensor: type and size as its file has them (the graph knows only types that are run), and its
/// name as the only attribute.
void setStored(NodeFacts& facts, const std::vector<api::TensorRow>& tensors);
/// `profile` may be null: nothing was measured.
TimeFacts timeFacts(const api::Profile* profile, std::span<const NodeId> nodes, bool fused);
ScopeFacts scopeFacts(const graph::Graph& graph, const QString& scope);
/// All nodes of a scope as the views write it, sources too.
std::vector<NodeId> nodesOf(const graph::Graph& graph, const QString& scope);
/// "layers.0-11" holds "layers.3": scopes as the views write them.
std::vector<std::string> scopesOf(const QString& scope);
/// The step that runs a node: its own, or for a node of the model graph that of the fused node it went into.
const api::PlanStep* planStep(const api::PlanReport* plan, const graph::Graph* fused, NodeId node,
                              bool nodeIsFused);
/// The node whose value a transfer carries; invalid when the node is no transfer.
NodeId transferSource(const graph::Graph& graph, NodeId node);

}  // namespace orrery::ui
