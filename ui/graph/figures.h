// What is measured of nodes, as the views show it.
#pragma once

#include <QString>
#include <unordered_map>

#include "engine/base/ids.h"

namespace orrery::ui {

/// ratio: of two sides of a comparison, A's time over B's.
enum class HeatMode : uint8_t { off, time, bytes, share, ratio };

/// What is written on one node and colours it. Zero or empty: not known.
struct NodeFigures {
  double us = 0;           // mean time of one run
  bool estimated = false;  // shared out of a fused node: written with ≈
  double otherUs = 0;      // of B, where two sides are compared
  double bytes = 0;        // moved by one run
  QString kernel;          // "avx512.add_rms"
};
using Figures = std::unordered_map<NodeId, NodeFigures>;

}  // namespace orrery::ui
