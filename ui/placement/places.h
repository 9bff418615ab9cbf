// Where the nodes of a graph run, as values for the views.
#pragma once

#include <QString>
#include <unordered_map>

#include "engine/api/session.h"

namespace orrery::ui {

struct NodePlace {
  QString device;  // where it runs: "CPU", "CUDA 0"
  QString asked;   // where it was asked to run
  QString reason;  // why it does not run there
  bool fellBack() const { return asked != device; }
};

struct Places {
  QString home;                                 // where every node that is not listed runs
  std::unordered_map<NodeId, NodePlace> nodes;  // those that run elsewhere, or elsewhere than asked
  NodePlace of(NodeId node) const;
};

/// Of the nodes of the model graph.
Places modelPlaces(const api::Session& session);
/// Of the nodes of the fused graph; without a plan (null), what runs elsewhere than asked does not say so.
Places fusedPlaces(const api::Session& session, const graph::Graph& fused, const api::PlanReport* plan);

}  // namespace orrery::ui
