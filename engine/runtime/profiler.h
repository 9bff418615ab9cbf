// The measured table of each phase of the current version: the times of nodes by run, and what a person
// waits for. A run is a step; tables are empty until something ran on the version.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/runtime/step_trace.h"

namespace orrery::runtime {

/// The last runs of one phase of one version; nanoseconds, oldest run first.
struct ProfileSnapshot {
  Phase phase = Phase::decode;
  uint64_t generation = 0;           // grows with all that is recorded and when a version begins
  graph::GraphVersion model, fused;  // of the version
  int64_t tokens = 0;                // of the last run
  size_t runs = 0;
  std::vector<NodeId> nodes;           // of the fused graph, in plan order
  std::vector<int64_t> times;          // (nodes, runs)
  std::vector<Arithmetic> arithmetic;  // of a node's kernel in the last run
  std::vector<graph::Cost> costs;      // of a node in the last run; in decode at the runs' mean context
  std::vector<int64_t> latencies;      // of the last tokens, prompts or texts: profiled or not
  double overhead_share = 0;           // measured cost of profiling, of a run
};

class Profiler {
 public:
  static constexpr size_t kRuns = 64;  // that a table holds

  Profiler();
  ~Profiler();
  /// A version begins: what was measured of others is gone, and what still runs on them is not recorded.
  void begin(graph::GraphVersion model, graph::GraphVersion fused);
  /// Off, nodes are not measured, and what was measured of them is gone; latencies go on.
  void set_enabled(bool enabled);
  bool enabled() const;
  /// Every step is measured, also where that takes it longer: of what nobody waits for.
  void measure_all() { measures_all_ = true; }
  bool measures_all() const { return measures_all_; }
  /// Called by the executor after a step, with the times of every plan step. Those of different devices may
  /// overlap.
  void record(const compile::Plan& plan, Phase phase, const ops::StepContext& context,
              const std::vector<TimeSpan>& times);
  /// Called by jobs: what one token, one prompt (prefill) or one text took, as the person is told.
  void record_latency(const compile::Plan& plan, Phase phase, double milliseconds);
  ProfileSnapshot snapshot(Phase phase) const;
  /// ProfileSnapshot::generation, without the rest.
  uint64_t generation(Phase phase) const;
  /// Empties the tables.
  void clear();
  StepTrace& trace() { return trace_; }

 private:
  struct Track;
  Track& track(Phase phase) const { return *tracks_[static_cast<size_t>(phase)]; }

  mutable std::mutex mutex_;
  graph::GraphVersion model_, fused_;
  std::array<std::unique_ptr<Track>, 2> tracks_;
  bool enabled_ = true;
  bool measures_all_ = false;  // set before the first step
  StepTrace trace_;
};

}  // namespace orrery::runtime
