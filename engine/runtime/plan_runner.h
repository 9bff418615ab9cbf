// Runs plans that need cards. The inputs of a step go over in one copy to each card, so a step that runs on
// one card alone costs one launch and one wait. The segments of a plan run as early as what they wait for
// allows: those of cards are launched as a whole, each card's in its own stream, cards wait for one another
// by marks in their streams, and the program waits only where a segment of its own needs a card's results,
// and at the end. The program's arena is page-locked, so that copies from and to it run fast.
//
// A step whose plan, extents and addresses come for the second time is captured beside the steps that follow
// (capture_queue.h), a graph a segment, and replayed once that is done: every token of a reply, many replies
// (StepBatch::pad), and texts of the same lengths. No step waits for a capture. One such step in
// kMeasuredEvery of either phase is measured: from a second graph that records a mark around every node,
// captured along with the first. A prompt that comes for the first time is measured as it runs.
//
// The mutexes of all cards of a plan are taken together, in the order of their ids, when the first is given
// work, and let go when none has any: so schedulers that share several cards never wait for each other in a
// circle.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "engine/runtime/capture_queue.h"
#include "engine/runtime/device_runner.h"
#include "engine/runtime/profiler.h"
#include "engine/runtime/recently_used.h"

namespace orrery::runtime {

class PlanRunner {
 public:
  static constexpr int kMeasuredEvery = 16;

  explicit PlanRunner(kernels::ThreadTeam& team);
  ~PlanRunner();
  PlanRunner(const PlanRunner&) = delete;
  PlanRunner& operator=(const PlanRunner&) = delete;

  /// As Executor::run; throws DeviceError. Whatever happens, no card has work of it afterwards.
  Result<void> run(std::shared_ptr<const compile::Plan> plan, StepBatch& batch,
                   std::span<const kernels::PagedKv> states, Profiler* profiler);
  /// As Executor::output; fetched from the device at the first call after a run. Throws DeviceError.
  const void* output(const compile::Plan& plan, size_t index);
  size_t bytes() const;
  /// Steps so far that ran directly, or for which something is still to be captured.
  uint64_t unsettled_steps() const { return unsettled_; }
  /// Returns when all is captured that steps so far asked for.
  void finish_captures() { captures_.finish(); }

 private:
  struct How {
    const LaidOutStep::Graphs* graphs = nullptr;  // to replay; null: the step runs directly
    bool measured = false;
    StepTrace* trace = nullptr;  // null: nobody wants to see what the host does
  };
  /// One card's part of the step that is run, beside what is laid out of it.
  struct Side {
    DeviceRunner* runner = nullptr;
    std::unique_lock<kernels::FairMutex> lock = {};
    bool busy = false;       // has work that nobody waited for
    size_t last = 0;         // segment that it was given last
    int64_t idle_since = 0;  // when the last wait for all of it ended
    size_t marked = 0;       // number of the last mark before that
  };

  void divide(std::shared_ptr<const compile::Plan> plan);
  Result<void> stage(StepBatch& batch, std::span<const kernels::PagedKv> states);
  bool has_room() const;
  void forget_renewed();
  How how_to_run(Phase phase, const Profiler* profiler);
  void prepare_marks();
  void run_segments(const How& how);
  void start_ready(const How& how);
  void start(size_t segment, const How& how);
  void wait_for(size_t segment, const How& how);
  void wait_for_all(kernels::DeviceId device, const How& how);
  void unlock_idle();
  void quiesce() noexcept;
  void read_marks();
  size_t way_bytes(const compile::CardUse& use) const;
  const compile::Plan& plan() const { return *step_.plan; }
  Side& side_of(kernels::DeviceId device) { return sides_.at(device); }

  kernels::ThreadTeam& team_;
  std::map<kernels::DeviceId, std::unique_ptr<DeviceRunner>> runners_;
  weights::Buffer host_workspace_;
  weights::DevicePtr locked_by_;  // a card of the plan: its renewal takes the next two along
  PinnedMemory host_arena_, choices_;
  kernels::Sample::Choice* told_ = nullptr;  // where the batch reads the choices
  RecentlyUsed<StepKey, bool> seen_;
  RecentlyUsed<StepKey, LaidOutStep::Graphs> graphs_;  // none: the step cannot be captured
  std::array<uint64_t, 2> again_ = {};                 // steps that came again, by phase
  uint64_t unsettled_ = 0;

  // Of the step that is run.
  LaidOutStep step_;
  std::map<kernels::DeviceId, Side> sides_;
  std::vector<bool> started_, ended_;  // by segment; ended: the program knows
  std::vector<bool> awaited_;          // by segment: another segment waits for it
  std::vector<TimeSpan> times_;

  std::vector<std::byte> output_;
  size_t output_index_ = 0;  // which output it holds

  CaptureQueue captures_;  // last: ends before the memory of what it captures
};

}  // namespace orrery::runtime
