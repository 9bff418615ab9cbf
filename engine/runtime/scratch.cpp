#include "engine/runtime/scratch.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

constexpr size_t kLeastBytes = 256;

}  // namespace

PinnedMemory::PinnedMemory(const weights::DevicePtr& device, size_t bytes)
    : data_(static_cast<std::byte*>(device->allocate_host(bytes)), Free{device, device->epoch()}),
      size_(bytes) {}

void PinnedMemory::Free::operator()(std::byte* data) const {
  if (device && device->epoch() == epoch) device->release_host(data);
}

bool has_room(const weights::Buffer& memory, size_t bytes) {
  return memory.size() >= std::max(bytes, kLeastBytes);
}

bool has_room(const PinnedMemory& memory, size_t bytes) {
  return memory.size() >= std::max(bytes, kLeastBytes);
}

Result<void> grow(weights::Buffer& memory, size_t bytes, const weights::DevicePtr& device) {
  if (has_room(memory, bytes)) return {};
  memory = {};
  ORRERY_ASSIGN(memory,
                weights::Buffer::allocate(std::max(bytes, kLeastBytes), device, "the activations of a step"));
  return {};
}

void grow(PinnedMemory& memory, size_t bytes, const weights::DevicePtr& device) {
  if (has_room(memory, bytes)) return;
  memory = {};
  memory = PinnedMemory(device, std::max(bytes, kLeastBytes));
}

}  // namespace orrery::runtime
