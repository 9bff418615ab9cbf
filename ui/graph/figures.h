// What is measured of nodes, as the views show it: one value that graph, outline and their legends share.
#pragma once

#include <QString>
#include <unordered_map>

#include "engine/api/profile.h"

namespace orrery::ui {

/// ratio: of two sides of a comparison, A's time over B's.
enum class HeatMode : uint8_t { off, time, bytes, share, ratio };

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
};

}  // namespace orrery::ui
