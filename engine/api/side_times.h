// What each node of two sessions takes, side by side.
#pragma once

#include "engine/api/compare.h"

namespace orrery::api {

/// The nodes of either model graph that were measured, by path: those of a in its order, then b's own.
std::vector<NodeComparison> timed_nodes(const Session& a, const Session& b);

struct SideTimes {
  std::vector<NodeComparison> nodes;    // without differences
  double step_a_us = 0, step_b_us = 0;  // a token; of an encoder a text
};

/// Measures both in turns, a few rounds of each, so that a machine that gets warm or busy wrongs neither.
/// Any thread; waits.
Result<SideTimes> side_times(Session& a, Session& b, const ProgressCallback& progress, std::stop_token stop);

}  // namespace orrery::api
