// Runs plans that need cards. The inputs of a step go over in one copy to each card, so a step that runs on
// one card alone costs one launch and one wait. The segments of a plan run as early as what they wait for
// allows: those of cards are launched as a whole, each card's in its own stream, cards wait for one another
// by marks in their streams, and the program waits only where a segment of its own needs a card's results,
// and at the end. The program's arena is page-locked, so that copies from and to it run fast.
//
// A step whose plan, extents and addresses were seen before is captured, a graph a segment, and replayed from
// then on: every token of a reply, and texts of the same lengths. One replay in kMeasuredEvery of either
// phase is of a second graph that records a mark around every node, for the profiler; it is captured along
// with the first. A prompt that comes for the first time is measured as it runs.
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
  Result<void> run(const compile::Plan& plan, StepBatch& batch, std::span<const kernels::PagedKv> states,
                   Profiler* profiler);
  /// Fetched from the device at the first call after a run. Throws DeviceError.
  const float* output(const compile::Plan& plan, size_t index);
  size_t bytes() const;
  /// Steps so far that were no mere replay: they ran directly, or something was captured for them.
  uint64_t unsettled_steps() const { return unsettled_; }

 private:
  /// What captured work was made for; anything else needs another capture.
  struct Key {
    uint64_t plan;       // its id
    uint64_t addresses;  // of all memory that the work touches, hashed
    int64_t tokens, sequences, outputs, max_pages, max_length;
    bool measured;
    auto operator<=>(const Key&) const = default;
  };
  struct How {
    bool replayed = false, measured = false, profiled = false;
    StepTrace* trace = nullptr;  // null: nobody wants to see what the host does
  };
  using Graphs = std::vector<std::unique_ptr<kernels::DeviceGraph>>;  // by segment
  /// One card's part of the step that is run.
  struct Side {
    DeviceRunner* runner = nullptr;
    uint64_t epoch = 0;            // of the plan
    std::vector<size_t> segments;  // its own, in order
    std::unique_lock<kernels::FairMutex> lock = {};
    bool busy = false;       // has work that nobody waited for
    size_t last = 0;         // segment that it was given last
    int64_t idle_since = 0;  // when the last wait for all of it ended
    size_t marked = 0;       // number of the last mark before that
  };

  Result<void> stage(const compile::Plan& plan, StepBatch& batch, std::span<const kernels::PagedKv> states);
  void divide(const compile::Plan& plan);
  Key key_of(const compile::Plan& plan, bool measured) const;
  How how_to_run(const compile::Plan& plan, Phase phase, bool profiled);
  void run_segments(const compile::Plan& plan, const How& how);
  void start_ready(const compile::Plan& plan, const How& how);
  void start(const compile::Plan& plan, size_t segment, const How& how);
  void issue(const compile::Plan& plan, size_t segment, bool measured);
  void copy(const compile::Step& step, Side& side);
  kernels::DeviceGraph& captured(const compile::Plan& plan, size_t segment, bool measured);
  void wait_for(const compile::Plan& plan, size_t segment, const How& how);
  void wait_for_all(Side& side, const How& how);
  void unlock_idle();
  void quiesce() noexcept;
  void read_marks(const compile::Plan& plan);
  Side& side_of(kernels::DeviceId device) { return sides_.at(device); }
  const ops::StepContext& context_of(kernels::DeviceId device) const;

  kernels::ThreadTeam& team_;
  std::map<kernels::DeviceId, std::unique_ptr<DeviceRunner>> runners_;
  weights::Buffer host_workspace_;
  weights::DevicePtr locked_by_;  // a card of the plan: its renewal takes the next two along
  PinnedMemory host_arena_, choices_;
  ops::StepContext here_;                    // the step as the program sees it
  kernels::Sample::Choice* told_ = nullptr;  // where the batch reads the choices
  RecentlyUsed<Key, bool> seen_;
  RecentlyUsed<Key, Graphs> graphs_;
  std::array<uint64_t, 2> replays_ = {};  // by phase
  uint64_t unsettled_ = 0;

  // Of the step that is run.
  std::map<kernels::DeviceId, Side> sides_;
  std::vector<bool> started_, ended_;  // by segment; ended: the program knows
  std::vector<bool> awaited_;          // by segment: another segment waits for it
  std::vector<size_t> first_mark_;     // by segment: the number of its first mark on its card
  std::vector<TimeSpan> times_;

  std::vector<float> output_;
  size_t output_index_ = 0;  // which output it holds
};

}  // namespace orrery::runtime
