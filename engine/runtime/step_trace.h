// What every step of a model did and when, kept while someone wants to see it: a bounded ring of whole steps.
// Times are nanoseconds of CLOCK_MONOTONIC whatever the device, so that the steps of several models on
// several devices lie on one axis. Off, a step costs one look at a flag; on, a copy of its times.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/runtime/phase.h"
#include "engine/runtime/time_span.h"

namespace orrery::runtime {

class StepTrace {
 public:
  static constexpr size_t kMostSpans = size_t{1} << 18;  // of all kept steps together

  /// The steps of a plan by name; shared by all kept steps that ran it.
  struct Names {
    struct Node {
      NodeId node;  // of the fused graph
      std::string op, kernel, device;
    };
    graph::GraphVersion graph;
    std::vector<Node> nodes;
  };
  /// What the host did during a step on a device, or before one: "launch", "compile".
  struct HostSpan {
    const char* what;
    int64_t begin, end;
  };
  struct Step {
    Phase phase = Phase::decode;
    int64_t tokens = 0, sequences = 0;
    int64_t begin = 0, end = 0;
    std::shared_ptr<const Names> plan;  // null: its nodes were not measured
    std::vector<TimeSpan> times;        // of its nodes
    Bindings bindings;                  // for the costs of its nodes
    std::vector<HostSpan> host;
  };
  struct Kept {
    std::vector<std::shared_ptr<const Step>> steps;  // oldest first
    uint64_t forgotten = 0;                          // older ones, for which there was no room
  };

  /// Turned on anew it forgets what it had; turned off it keeps it. Any thread.
  void set_on(bool on);
  bool on() const { return on_.load(std::memory_order_relaxed); }
  Kept kept() const;  // any thread

  // On the scheduler's thread, in this order; ignored while it is off. A step that fails is not ended.
  void begin_step();
  void add_host(const char* what, int64_t begin, int64_t end);
  /// `times` as Profiler::record takes them; those of one device are made to follow each other and to lie
  /// within the step.
  void add_nodes(const compile::Plan& plan, const Bindings& bindings, const std::vector<TimeSpan>& times);
  void end_step(Phase phase, int64_t tokens, int64_t sequences);

 private:
  std::shared_ptr<const Names> names_of(const compile::Plan& plan);

  std::atomic<bool> on_{false};
  std::unique_ptr<Step> running_;                         // scheduler's thread
  std::map<uint64_t, std::weak_ptr<const Names>> names_;  // by plan id; scheduler's thread
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Step>> steps_;
  size_t spans_ = 0;
  uint64_t forgotten_ = 0;
};

/// Tells the trace of what the host does while this lives.
class HostPart {
 public:
  HostPart(StepTrace* trace, const char* what);  // null: nothing is told
  ~HostPart();
  HostPart(const HostPart&) = delete;
  HostPart& operator=(const HostPart&) = delete;

 private:
  StepTrace* trace_;
  const char* what_;
  int64_t begin_;
};

}  // namespace orrery::runtime
