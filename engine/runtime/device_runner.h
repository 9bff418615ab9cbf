// What one card has of the steps that it runs: its arena, its inputs, its marks. LaidOutStep gives it its
// work, and PlanRunner says what comes when.
#pragma once

#include <span>
#include <vector>

#include "engine/runtime/laid_out_step.h"
#include "engine/runtime/time_span.h"

namespace orrery::runtime {

class DeviceRunner {
 public:
  explicit DeviceRunner(weights::DevicePtr device);

  const weights::DevicePtr& device() const { return device_; }
  /// Whether the device was renewed since what it has was made.
  bool is_outdated() const { return device_->epoch() != epoch_; }
  /// Forgets all that was made before the device was renewed.
  void follow_epoch();
  /// Throws `lost` when the device is not as it was at `epoch`, or since follow_epoch(). Under the stream's
  /// mutex: whoever shares the device may have renewed it since the step began.
  void require_epoch(uint64_t epoch) const;

  /// Whether a step can be laid out without any memory being moved. `here`: as the program sees it;
  /// `way`: bytes that come through page-locked memory from cards that the device does not reach.
  bool has_room(const compile::CardUse& use, const ops::StepContext& here, size_t way) const;
  /// Room for a step and its inputs, before anything is issued. Throws DeviceError.
  Result<void> stage(const compile::CardUse& use, const ops::StepContext& here, size_t way,
                     LaidOutStep::Card& card);
  size_t bytes() const { return arena_.size() + workspace_.size() + staged_.device_bytes() + way_.size(); }

  /// By number, for the profiler: those of one step, in the order of the stream.
  std::shared_ptr<const LaidOutStep::Marks> marks(size_t count);

  // Into the stream, under its mutex.
  /// Tells other devices, and who waits for less than all, that a segment has ended.
  void mark_end(size_t segment);
  const kernels::DeviceMark& end_of(size_t segment) const { return *ends_[segment]; }

  /// After wait(), which ended at `now` just after mark `last` was passed: when the mark was.
  int64_t time_of(size_t mark, size_t last, int64_t now) const {
    return now - static_cast<int64_t>(device_->microseconds(*(*marks_)[mark], *(*marks_)[last]) * 1e3);
  }

 private:
  weights::DevicePtr device_;
  uint64_t epoch_;
  weights::Buffer arena_, workspace_;
  PinnedMemory way_;
  StagedStep staged_;
  std::shared_ptr<const LaidOutStep::Marks> marks_ = std::make_shared<LaidOutStep::Marks>();
  LaidOutStep::Marks ends_;  // by segment; null where nobody waits
};

}  // namespace orrery::runtime
