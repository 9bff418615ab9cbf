// Memory that steps work in: grown to what the largest step needed so far.
#pragma once

#include <memory>

#include "engine/weights/weight_store.h"

namespace orrery::runtime {

/// Page-locked memory of the program: a device's kernels and copies reach it at the same address.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  /// Throws DeviceError.
  PinnedMemory(const weights::DevicePtr& device, size_t bytes);

  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  /// What was made before the device was renewed went with its context.
  struct Free {
    Free() noexcept : epoch(0) {}
    Free(weights::DevicePtr owner, uint64_t when) : device(std::move(owner)), epoch(when) {}
    weights::DevicePtr device;
    uint64_t epoch;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

/// Whether grow() would leave the memory where it is.
bool has_room(const weights::Buffer& memory, size_t bytes);
bool has_room(const PinnedMemory& memory, size_t bytes);
/// Makes the memory at least `bytes` large, and never empty; what it held is gone when it grows.
Result<void> grow(weights::Buffer& memory, size_t bytes, const weights::DevicePtr& device = {});
/// Throws DeviceError.
void grow(PinnedMemory& memory, size_t bytes, const weights::DevicePtr& device);

}  // namespace orrery::runtime
