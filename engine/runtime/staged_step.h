// The inputs of one step on their way to a device: laid out in page-locked memory, from where one copy takes
// them over.
#pragma once

#include "engine/runtime/scratch.h"
#include "engine/runtime/step_batch.h"

namespace orrery::runtime {

class StagedStep {
 public:
  explicit StagedStep(weights::DevicePtr device) : device_(std::move(device)) {}

  /// Lays the step out. Only the plan and extents decide where what lies, so that a captured copy serves
  /// every step of the plan with the same extents; lengths and pages, which kernels size their grids by, are
  /// rounded up to powers of two. Throws DeviceError.
  Result<void> stage(const ops::StepContext& here);
  /// Whether the step can be laid out where those before were.
  bool has_room(const ops::StepContext& here) const;
  /// After the device was renewed: nothing of before can be used.
  void forget();

  /// The step as the device sees it. Choices, arena, workspace, states and stream are left to whoever runs
  /// it.
  const ops::StepContext& there() const { return there_; }
  /// The copy that brings it over.
  struct Copy {
    void* dst = nullptr;
    const void* src = nullptr;
    size_t bytes = 0;
  };
  Copy copy() const { return {inputs_.data(), staged_.data(), used_}; }
  size_t device_bytes() const { return inputs_.size(); }

 private:
  weights::DevicePtr device_;
  weights::Buffer inputs_;
  PinnedMemory staged_;
  size_t used_ = 0;
  ops::StepContext there_;
};

}  // namespace orrery::runtime
