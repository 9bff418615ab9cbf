#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/weights/memory_state.h"

namespace orrery::weights {
namespace {

constexpr size_t kAlignment = 64;

std::byte* allocate_on(kernels::Device& device, size_t bytes) {
  return static_cast<std::byte*>(device.allocate(std::max<size_t>(bytes, 1)));
}

/// From here on memory is asked of the system itself and goes straight back to it; the heap would keep what
/// is freed between blocks that live on.
constexpr size_t kMapped = size_t{1} << 20;

std::byte* map_here(size_t bytes) {
  void* range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return range == MAP_FAILED ? nullptr : static_cast<std::byte*>(range);
}

std::byte* allocate_here(size_t bytes) {
  const size_t rounded = std::max((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  return static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
}

}  // namespace

DevicePtr find_card(std::span<const DevicePtr> cards, kernels::DeviceId id) {
  const auto it =
      std::ranges::find_if(cards, [&](const DevicePtr& card) { return card && card->id() == id; });
  return id.is_cpu() || it == cards.end() ? nullptr : *it;
}

Error describe(const kernels::DeviceError& error) {
  switch (error.kind()) {
    case kernels::DeviceError::Kind::out_of_memory:
      return {ErrorCode::out_of_memory, error.what(), "", "close other models and programs"};
    case kernels::DeviceError::Kind::lost:
      return {ErrorCode::device, error.what(), "",
              "open the model on the CPU, or start the program again; the text of the chat and the edits are "
              "kept"};
    case kernels::DeviceError::Kind::failed:
      break;
  }
  return {ErrorCode::device, error.what(), "", "run it on the CPU, or try again"};
}

Result<Buffer> Buffer::allocate(size_t bytes, const DevicePtr& device, std::string_view purpose) {
  Buffer buffer;
  if (bytes <= SIZE_MAX / 2) {
    try {
      const size_t mapped = !device && bytes >= kMapped ? bytes : 0;
      buffer.data_ = {device       ? allocate_on(*device, bytes)
                      : mapped > 0 ? map_here(mapped)
                                   : allocate_here(bytes),
                      Free{device, device ? device->epoch() : 0, mapped}};
    } catch (const kernels::DeviceError& error) {
      if (error.kind() != kernels::DeviceError::Kind::out_of_memory) return describe(error);
    }
  }
  if (!buffer.data_) return no_memory(purpose, bytes, device);
  buffer.size_ = bytes;
  return buffer;
}

Result<void> Buffer::fill(const void* src, size_t bytes) {
  if (bytes == 0) return {};
  if (const DevicePtr& device = data_.get_deleter().device) {
    try {
      device->upload(data_.get(), src, bytes);
    } catch (const kernels::DeviceError& error) {
      return describe(error);
    }
  } else {
    std::memcpy(data_.get(), src, bytes);
  }
  return {};
}

bool Buffer::alive() const {
  const Free& owner = data_.get_deleter();
  return !owner.device || owner.device->epoch() == owner.epoch;
}

void Buffer::Free::operator()(std::byte* data) const {
  if (mapped > 0)
    munmap(data, mapped);
  else if (!device)
    std::free(data);
  else if (device->epoch() == epoch)
    device->release(data);
}

}  // namespace orrery::weights
