// Runs plans on a device. The inputs of a step go over in one copy, so a step costs one launch and one wait.
// A step whose plan, extents and addresses were seen before is captured and replayed as one graph from then
// on: every token of a reply, and texts of the same lengths. One replay in kMeasuredEvery of either phase is
// of a second graph that records a mark behind every node, for the profiler; a prompt that comes for the
// first time is measured as it runs.
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

  explicit DeviceRunner(weights::DevicePtr device);
  ~DeviceRunner();
  DeviceRunner(const DeviceRunner&) = delete;
  DeviceRunner& operator=(const DeviceRunner&) = delete;

  /// As Executor::run; throws DeviceError.
  Result<void> run(const compile::Plan& plan, StepBatch& batch, std::span<const kernels::PagedKv> states,
                   Profiler* profiler);
  /// Fetched from the device at the first call after a run.
  const float* output(const compile::Plan& plan, size_t index);
  size_t bytes() const { return arena_.size() + workspace_.size() + staged_.device_bytes(); }

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
    bool replayed, measured;
  };

  void follow_epoch();
  Key key_of(const compile::Plan& plan, bool measured) const;
  How how_to_run(const compile::Plan& plan, Phase phase, bool profiled);
  void issue(const compile::Plan& plan, bool measured);
  kernels::DeviceGraph& captured(const compile::Plan& plan, bool measured);
  void report(const compile::Plan& plan, Profiler& profiler, Phase phase);

  weights::DevicePtr device_;
  uint64_t epoch_ = 0;
  weights::Buffer arena_, workspace_;
  StagedStep staged_;
  ops::StepContext context_;
  RecentlyUsed<Key, bool> seen_;
  RecentlyUsed<Key, std::unique_ptr<kernels::DeviceGraph>> graphs_;
  std::vector<std::unique_ptr<kernels::DeviceMark>> marks_;
  std::vector<int64_t> times_;
  std::vector<float> output_;
  size_t output_index_ = 0;               // which output it holds
  std::array<uint64_t, 2> replays_ = {};  // by phase
};

}  // namespace orrery::runtime
