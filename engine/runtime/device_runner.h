// What one card has of the steps that it runs: its arena, its inputs, its marks, and its part of the stream's
// work. PlanRunner says what comes when.
#pragma once

#include <span>
#include <vector>

#include "engine/runtime/staged_step.h"
#include "engine/runtime/time_span.h"

namespace orrery::runtime {

class DeviceRunner {
 public:
  explicit DeviceRunner(weights::DevicePtr device);

  const weights::DevicePtr& device() const { return device_; }
  /// Forgets all that was made before the device was renewed; whether that was so.
  bool follow_epoch();
  /// Throws `lost` when the device is not as it was at `epoch`, or since follow_epoch(). Under the stream's
  /// mutex: whoever shares the device may have renewed it since the step began.
  void require_epoch(uint64_t epoch) const;

  /// Room for a step and its inputs, before anything is issued. Throws DeviceError.
  Result<void> stage(const compile::CardUse& use, StepBatch& batch, std::span<const kernels::PagedKv> states,
                     kernels::Sample::Choice* choices);
  /// Page-locked memory through which the values of cards that it does not reach come.
  void make_way(size_t bytes) { grow(way_, bytes, device_); }
  /// The step as the device's kernels see it.
  const ops::StepContext& context() const { return context_; }
  /// Every address that captured work of it holds.
  std::vector<const void*> addresses() const;
  size_t bytes() const { return arena_.size() + workspace_.size() + staged_.device_bytes() + way_.size(); }

  // Into the stream, under its mutex.
  /// Before kernels of a segment: another device's may have been launched before.
  void enter() { context_.stream = device_->stream(); }
  void send_inputs() { staged_.send(); }
  /// `from`, `to`: the step as each side sees it; `other` the card that the value comes from, else null.
  void copy(const compile::Transfer& transfer, const ops::StepContext& from, const ops::StepContext& to,
            const weights::DevicePtr& other);
  /// Marks by number, for the profiler: those of one step, in the order of the stream.
  void make_marks(size_t count);
  void record(size_t mark) { device_->record(*marks_[mark]); }
  /// Tells other devices, and who waits for less than all, that a segment has ended.
  void mark_end(size_t segment);
  const kernels::DeviceMark& end_of(size_t segment) const { return *ends_[segment]; }

  /// After wait(), which ended at `now` just after mark `last` was passed: when the mark was.
  int64_t time_of(size_t mark, size_t last, int64_t now) const {
    return now - static_cast<int64_t>(device_->microseconds(*marks_[mark], *marks_[last]) * 1e3);
  }

 private:
  using Marks = std::vector<std::unique_ptr<kernels::DeviceMark>>;

  weights::DevicePtr device_;
  uint64_t epoch_;
  weights::Buffer arena_, workspace_;
  PinnedMemory way_;
  StagedStep staged_;
  ops::StepContext context_;
  Marks marks_;
  Marks ends_;  // by segment; null where nobody waits
};

}  // namespace orrery::runtime
