// Per-node times of steps that ran, mapped back to the nodes of the model graph.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/runtime/step_trace.h"

namespace orrery::runtime {

/// Times of one node over the window of recent steps of one phase.
struct NodeTime {
  NodeId node;  // of the fused graph
  double last_us = 0, mean_us = 0, p50_us = 0,
         p95_us = 0;            // mean: moving average, half-life 0.5 s of run time
  double bytes = 0, flops = 0;  // of the last step; in decode at the mean context of the steps, as mean_us
  uint64_t runs = 0;
};

struct ProfileSnapshot {
  Phase phase = Phase::decode;
  uint64_t generation = 0;  // grows with every step
  graph::GraphVersion fused;
  std::vector<NodeTime> nodes;  // in plan order
  double step_us = 0;           // moving average of the whole step
  double nodes_us = 0;          // sum of the nodes
  double overhead_share = 0;    // measured cost of profiling, of the step
};

class Profiler {
 public:
  void set_enabled(bool enabled);
  bool enabled() const;
  /// Called by the executor after a step, with the end time of every plan step in nanoseconds of
  /// CLOCK_MONOTONIC (times[0] is the start).
  void record(const compile::Plan& plan, Phase phase, const ops::StepContext& context,
              const std::vector<int64_t>& times);
  ProfileSnapshot snapshot(Phase phase) const;
  void clear();
  StepTrace& trace() { return trace_; }

 private:
  struct Track;
  mutable std::mutex mutex_;
  std::array<std::shared_ptr<Track>, 2> tracks_;
  mutable std::mutex reading_;  // before mutex_: one reader at a time has the copy
  mutable std::shared_ptr<Track> copy_;
  bool enabled_ = true;
  StepTrace trace_;
};

}  // namespace orrery::runtime
