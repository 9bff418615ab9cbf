// A graph on its way through the passes.
#pragma once

#include <memory>
#include <utility>

#include "engine/graph/graph.h"

namespace orrery::passes {

/// Shared until a pass rewrites it: one that changes nothing costs no copy.
class Draft {
 public:
  explicit Draft(graph::GraphVersion graph) : graph_(std::move(graph)) {}
  explicit Draft(const graph::Graph& graph) : own_(std::make_shared<graph::Graph>(graph)) { graph_ = own_; }

  const graph::Graph& graph() const { return *graph_; }
  /// The draft's own copy, which this makes where there is none yet.
  graph::Graph& edit() {
    if (!own_) graph_ = own_ = std::make_shared<graph::Graph>(*graph_);
    return *own_;
  }
  graph::GraphVersion version() const { return graph_; }

 private:
  graph::GraphVersion graph_;
  std::shared_ptr<graph::Graph> own_;  // the same one, once it is ours
};

}  // namespace orrery::passes
