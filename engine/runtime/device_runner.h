// Runs plans on a device. The inputs of a step go over in one copy from pinned memory, the sampled tokens
// come back through memory that the device writes itself, so a step costs one launch and one wait. A decode
// step is captured while it runs for the first time, and replayed as one graph from then on: lengths,
// positions and pages are read from device memory, and the extents that a kernel's grid depends on are
// rounded up to powers of two, so that one graph serves a whole bucket. One replay in kMeasuredEvery is of a
// second graph that records a mark behind every node, for the profiler.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "engine/runtime/profiler.h"
#include "engine/runtime/step_batch.h"

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
  size_t bytes() const { return arena_.size() + workspace_.size() + inputs_.size(); }

 private:
  /// What a captured graph was made for; anything else needs another.
  struct Key {
    uint64_t plan;  // its id
    const std::byte* states;
    int64_t tokens, sequences, outputs, max_pages, max_length;
    bool measured;
    auto operator<=>(const Key&) const = default;
  };
  class PinnedFree {
   public:
    PinnedFree() noexcept : device_(nullptr), epoch_(0) {}
    PinnedFree(kernels::Device* device, uint64_t epoch) : device_(device), epoch_(epoch) {}
    void operator()(std::byte* memory) const;

   private:
    kernels::Device* device_;
    uint64_t epoch_;
  };
  using Pinned = std::unique_ptr<std::byte, PinnedFree>;

  void follow_epoch();
  Result<void> grow(weights::Buffer& buffer, size_t bytes);
  void grow_pinned(Pinned& memory, size_t& size, size_t bytes);
  Result<void> stage(StepBatch& batch);
  Key key_of(const compile::Plan& plan, bool measured) const;
  void issue(const compile::Plan& plan, bool measured);
  void replay(const compile::Plan& plan, const Key& key);
  void report(const compile::Plan& plan, Profiler& profiler, Phase phase);

  weights::DevicePtr device_;
  uint64_t epoch_ = 0;
  weights::Buffer arena_, workspace_, inputs_;
  Pinned staged_, choices_;
  size_t staged_bytes_ = 0, choices_bytes_ = 0, copied_ = 0;
  ops::StepContext host_, context_;  // the same step as the host and as the device sees it
  std::map<Key, std::unique_ptr<kernels::DeviceGraph>> graphs_;
  std::vector<std::unique_ptr<kernels::DeviceMark>> marks_;
  std::vector<int64_t> times_;
  std::vector<float> output_;
  size_t output_index_ = 0;  // which output it holds
  uint64_t decodes_ = 0;
};

}  // namespace orrery::runtime
