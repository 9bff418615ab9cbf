// A comparison as the panels show it: what its sides were, and what either side has of a node or of a scope
// of the graph that is drawn. Nodes are found by their paths, as every session numbers its own graph.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "engine/api/compare.h"
#include "engine/graph/graph.h"
#include "ui/theme/side_look.h"

namespace orrery::ui {

using ComparePtr = std::shared_ptr<const api::CompareResult>;

/// Without a result: there is none, or it is of other settings than those chosen.
struct Comparison {
  ComparePtr result;
  SideLooks sides;
  explicit operator bool() const { return result != nullptr; }
};

/// What either side has of a node, or of several together.
struct SideFacts {
  double aUs = 0, bUs = 0;  // 0: that side has no time of it
  bool estimated = false;
  std::optional<api::Difference> difference;  // the largest by NMSE
};

class ComparisonIndex {
 public:
  explicit ComparisonIndex(const Comparison& comparison);

  const Comparison& comparison() const { return comparison_; }
  /// A node of `shown`, the model graph or the fused graph made of `model`: the sum of what it was fused
  /// from.
  SideFacts of(const graph::Graph& shown, const graph::Graph& model, NodeId node) const;
  SideFacts of(const graph::Graph& shown, const graph::Graph& model, std::span<const NodeId> nodes) const;
  /// The node of `shown` that is, or was fused from, the node of that path. None: it is not drawn.
  static NodeId find(const graph::Graph& shown, const graph::Graph& model, std::string_view path);

 private:
  void add(SideFacts& facts, const std::string& path) const;

  Comparison comparison_;
  std::unordered_map<std::string_view, const api::NodeComparison*> rows_;
};

}  // namespace orrery::ui
