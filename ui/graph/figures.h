// What is measured of nodes, as the views show it: one value that graph, outline and their legends share.
#pragma once

#include <QString>
#include <unordered_map>

#include "engine/api/profile.h"

namespace orrery::ui {

/// ratio: of two sides of a comparison, A's time over B's. measure: what a sweep found.
enum class HeatMode : uint8_t { off, time, bytes, share, ratio, measure };

/// What was measured of nodes, and where it lies on a scale of its own, 0 to 1.
struct NodeMeasure {
  double value = 0, place = 0;
};
/// With the scale's name and ends.
struct NodeMeasures {
  QString title;
  double low = 0, high = 0;
  std::unordered_map<NodeId, NodeMeasure> nodes;
};

/// A node's times on two sides that are compared, in µs; 0: that side has none.
struct SideTimes {
  double a = 0, b = 0;
  bool estimated = false;
};

/// Of one model's runs, or of two sides that are compared; empty: nothing is known.
struct Figures {
  api::ProfilePtr profile;  // null: none
  bool fused = false;       // of the fused graph's nodes
  std::unordered_map<NodeId, SideTimes> sides;
  std::unordered_map<NodeId, QString> kernels;  // "avx512.add_rms"
  NodeMeasures measures = {};                   // of the mode that they are for
};

}  // namespace orrery::ui
