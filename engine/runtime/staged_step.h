// The inputs of one step on their way to a device: laid out in page-locked memory, from where one copy takes
// them over.
#pragma once

#include "engine/runtime/scratch.h"
#include "engine/runtime/step_batch.h"

namespace orrery::runtime {

class StagedStep {
 public:
  explicit StagedStep(weights::DevicePtr device) : device_(std::move(device)) {}

  /// Lays the step out. Only extents decide where what lies, so that a captured copy serves every step of the
  /// same extents; lengths and pages, which kernels size their grids by, are rounded up to powers of two.
  /// Throws DeviceError.
  Result<void> stage(StepBatch& batch);
  /// Gives the copy to the stream.
  void send();
  /// After the device was renewed: nothing of before can be used.
  void forget();

  /// The step as the device sees it. Choices, arena, workspace, states and stream are left to whoever runs
  /// it.
  const ops::StepContext& there() const { return there_; }
  /// Addresses that captured work holds.
  const void* source() const { return staged_.data(); }
  const void* target() const { return inputs_.data(); }
  size_t device_bytes() const { return inputs_.size(); }

 private:
  Result<void> make_room(size_t bytes);

  weights::DevicePtr device_;
  weights::Buffer inputs_;
  PinnedMemory staged_;
  size_t used_ = 0;
  ops::StepContext there_;
};

}  // namespace orrery::runtime
