#include "engine/runtime/page_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "engine/weights/memory_state.h"

namespace orrery::runtime {
namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t system_page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

Error no_memory(size_t bytes, const weights::DevicePtr& device) {
  return weights::no_memory("the KV cache", bytes, device);
}

}  // namespace

Result<PageMemory> PageMemory::reserve(size_t bytes, const weights::DevicePtr& device) {
  PageMemory memory;
  std::byte* base = nullptr;
  try {
    bytes = round_up(std::max<size_t>(bytes, 1), device ? device->granularity() : system_page());
    if (device) {
      base = static_cast<std::byte*>(device->reserve(bytes));
    } else if (void* range =
                   mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
               range != MAP_FAILED) {
      base = static_cast<std::byte*>(range);
    }
  } catch (const kernels::DeviceError& error) {
    return weights::describe(error);
  }
  if (!base) return no_memory(bytes, device);
  memory.base_ = {base, Free{device, device ? device->epoch() : 0, bytes}};
  return memory;
}

Result<void> PageMemory::commit(size_t bytes) {
  const Free& owner = base_.get_deleter();
  const size_t unit = owner.device ? owner.device->granularity() : system_page();
  const size_t end = std::min(round_up(bytes, unit), owner.bytes);
  if (end <= committed_) return {};
  if (owner.device) {
    try {
      owner.device->commit(base(), committed_, end);
    } catch (const kernels::DeviceError& error) {
      if (error.kind() != kernels::DeviceError::Kind::out_of_memory) return weights::describe(error);
      return no_memory(end - committed_, owner.device);
    }
  } else if (mprotect(base() + committed_, end - committed_, PROT_READ | PROT_WRITE) != 0) {
    return no_memory(end - committed_, {});
  }
  committed_ = end;
  return {};
}

bool PageMemory::alive() const {
  const Free& owner = base_.get_deleter();
  return !owner.device || owner.device->epoch() == owner.epoch;
}

void PageMemory::Free::operator()(std::byte* base) const {
  if (!device) {
    munmap(base, bytes);
  } else if (device->epoch() == epoch) {
    device->unreserve(base);
  }
}

}  // namespace orrery::runtime
