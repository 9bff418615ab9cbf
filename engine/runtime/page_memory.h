// An address range that is reserved once and gets its memory from its start on: of the program, or of a
// device.
#pragma once

#include "engine/weights/weight_store.h"

namespace orrery::runtime {

class PageMemory {
 public:
  PageMemory() = default;
  /// Takes addresses, no memory. out_of_memory when there is no such range.
  static Result<PageMemory> reserve(size_t bytes, const weights::DevicePtr& device);
  /// Memory behind the first `bytes` at least. out_of_memory leaves what is there.
  Result<void> commit(size_t bytes);

  std::byte* base() const { return base_.get(); }
  bool alive() const;

 private:
  struct Free {
    Free() noexcept : epoch(0), bytes(0) {}
    Free(weights::DevicePtr owner, uint64_t when, size_t size)
        : device(std::move(owner)), epoch(when), bytes(size) {}
    weights::DevicePtr device;
    uint64_t epoch;
    size_t bytes;
    void operator()(std::byte* base) const;
  };
  std::unique_ptr<std::byte, Free> base_;
  size_t committed_ = 0;
};

}  // namespace orrery::runtime
