// Runs the steps of a plan over its arenas, and tells the profiler how long each took.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "engine/runtime/plan_runner.h"
#include "engine/runtime/profiler.h"
#include "engine/runtime/scratch.h"
#include "engine/runtime/step_batch.h"

namespace orrery::runtime {

class Executor {
 public:
  explicit Executor(kernels::ThreadTeam& team) : team_(team), cards_(std::make_unique<PlanRunner>(team)) {}

  /// Fails with out_of_memory when an arena cannot grow. `profiler` may be null. A kernel's or device's
  /// exception passes through.
  Result<void> run(std::shared_ptr<const compile::Plan> plan, StepBatch& batch,
                   std::span<const kernels::PagedKv> states, Profiler* profiler);

  /// The elements of a graph output of the last run; null for none. Valid until the next run.
  const void* output(const compile::Plan& plan, size_t index) const;
  /// Of the arenas and the workspaces; any thread.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Steps so far that took longer than the same step will later: on a card, until it is captured. Any
  /// thread.
  uint64_t unsettled_steps() const { return unsettled_.load(std::memory_order_relaxed); }

  /// Returns when what steps so far asked for is captured: the next that are the same are replays. By the
  /// thread that runs them.
  void finish_captures() { cards_->finish_captures(); }

 private:
  Result<void> run_here(const compile::Plan& plan, StepBatch& batch, std::span<const kernels::PagedKv> states,
                        Profiler* profiler);

  kernels::ThreadTeam& team_;
  std::unique_ptr<PlanRunner> cards_;
  weights::Buffer arena_, workspace_;
  std::vector<TimeSpan> times_;
  ops::StepContext context_;
  std::atomic<size_t> bytes_{0};
  std::atomic<uint64_t> unsettled_{0};
};

}  // namespace orrery::runtime
