// Captures laid-out steps on a thread of its own, so that no step waits for a capture.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "engine/runtime/laid_out_step.h"

namespace orrery::runtime {

/// All but the thread's own work is called by one thread, which owns the memory of the steps: before it gives
/// any of that back, it cancels.
class CaptureQueue {
 public:
  struct Captured {
    StepKey key;
    LaidOutStep::Graphs graphs;  // none: it could not be captured, or its plan ended before
  };

  CaptureQueue() = default;
  ~CaptureQueue() { cancel(); }
  CaptureQueue(const CaptureQueue&) = delete;
  CaptureQueue& operator=(const CaptureQueue&) = delete;

  /// Captures a copy of the step, unless that is asked for already and was not taken. Returns at once.
  void add(const LaidOutStep& step, bool measured);
  /// What was captured since.
  std::vector<Captured> take();
  /// Drops what was asked for and not taken; what is being captured is waited for.
  void cancel();
  /// Returns when all that was asked for can be taken.
  void finish();

 private:
  struct Wanted {
    StepKey key;
    LaidOutStep step;  // without its plan, which may end before its turn comes
    std::weak_ptr<const compile::Plan> plan;
    std::vector<kernels::PagedKv> states;  // of the step
  };
  void loop(const std::stop_token& stop);
  static LaidOutStep::Graphs capture(Wanted wanted);

  std::set<StepKey> asked_;  // and not taken

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Wanted> wanted_;
  bool busy_ = false;
  std::vector<Captured> done_;
  std::atomic<bool> any_done_{false};
  std::jthread thread_;  // begins with the first step; last: ends before what it uses
};

}  // namespace orrery::runtime
