// Runs plans that need a card. The inputs of a step go over in one copy, so a step that runs on the card
// alone costs one launch and one wait. Steps of a mixed plan take turns with those of the program: a segment
// on the card is launched as a whole and waited for, transfers are copies in its stream, and the program's
// arena is page-locked so that they run fast.
//
// A step whose plan, extents and addresses were seen before is captured, a graph a segment, and replayed from
// then on: every token of a reply, and texts of the same lengths. One replay in kMeasuredEvery of either
// phase is of a second graph that records a mark behind every node, for the profiler; it is captured along
// with the first. A prompt that comes for the first time is measured as it runs.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "engine/runtime/profiler.h"
#include "engine/runtime/recently_used.h"
#include "engine/runtime/staged_step.h"

namespace orrery::runtime {

class DeviceRunner {
 public:
  static constexpr int kMeasuredEvery = 16;

  DeviceRunner(weights::DevicePtr device, kernels::ThreadTeam& team);
  ~DeviceRunner();
  DeviceRunner(const DeviceRunner&) = delete;
  DeviceRunner& operator=(const DeviceRunner&) = delete;

  /// As Executor::run; throws DeviceError.
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

  void follow_epoch();
  void require_epoch(uint64_t epoch) const;
  Result<void> make_room(const compile::Plan& plan);
  void point_contexts(std::span<const kernels::PagedKv> states);
  Key key_of(const compile::Plan& plan, bool measured) const;
  How how_to_run(const compile::Plan& plan, Phase phase, bool profiled);
  void run_there(const compile::Plan& plan, size_t segment, const How& how);
  void issue(const compile::Plan& plan, size_t segment, bool measured);
  void copy(const compile::Step& step);
  kernels::DeviceGraph& captured(const compile::Plan& plan, size_t segment, bool measured);
  void make_marks(const compile::Plan& plan);
  void read_marks(const compile::Segment& segment);

  weights::DevicePtr device_;
  kernels::ThreadTeam& team_;
  uint64_t epoch_ = 0;
  weights::Buffer arena_, workspace_, host_workspace_;
  PinnedMemory host_arena_;
  StagedStep staged_;
  ops::StepContext here_, there_;  // the same step as the program and as the device sees it
  RecentlyUsed<Key, bool> seen_;
  RecentlyUsed<Key, Graphs> graphs_;
  std::vector<std::unique_ptr<kernels::DeviceMark>> marks_;  // 0: the begin; i + 1: the end of step i
  std::vector<int64_t> times_;
  std::vector<float> output_;
  size_t output_index_ = 0;               // which output it holds
  std::array<uint64_t, 2> replays_ = {};  // by phase
  uint64_t unsettled_ = 0;
};

}  // namespace orrery::runtime
