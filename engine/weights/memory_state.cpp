#include "engine/weights/memory_state.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

namespace orrery::weights {
namespace {

/// A line of /proc/meminfo, in bytes.
uint64_t memory_line(std::string_view key) {
  std::ifstream stream("/proc/meminfo");
  std::string name, unit;
  for (uint64_t kilobytes = 0; stream >> name >> kilobytes; std::getline(stream, unit))
    if (name == key) return kilobytes * 1024;
  return 0;
}

}  // namespace

MemoryState memory_of(const DevicePtr& device) {
  if (!device) return {memory_line("MemTotal:"), memory_line("MemAvailable:")};
  const kernels::DeviceVitals vitals = device->vitals();
  const uint64_t total = vitals.memory_total > 0 ? vitals.memory_total : device->facts().memory_bytes;
  return {total, total > vitals.memory_used ? total - vitals.memory_used : 0};
}

uint64_t program_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return file ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t resident_bytes(std::span<const std::byte> mapped) {
  if (mapped.empty()) return 0;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before = reinterpret_cast<uintptr_t>(mapped.data()) % page;
  std::vector<unsigned char> present((mapped.size() + before + page - 1) / page);
  void* start = const_cast<std::byte*>(mapped.data() - before);
  if (mincore(start, mapped.size() + before, present.data()) != 0) return mapped.size();
  uint64_t pages = 0;
  for (const unsigned char flag : present) pages += flag & 1U;
  return pages * page;
}

std::string readable_memory(uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (amount < 0.9995e6) return fmt::format("{:.3g} kB", amount * 1e-3);
  if (amount < 0.9995e9) return fmt::format("{:.3g} MB", amount * 1e-6);
  return fmt::format("{:.3g} GB", amount * 1e-9);
}

Error no_memory(std::string_view purpose, uint64_t bytes, const DevicePtr& device, std::string where) {
  const MemoryState memory = memory_of(device);
  const std::string there =
      device ? fmt::format("{} (cuda:{})", device->facts().name, device->facts().index) : "this machine";
  return {ErrorCode::out_of_memory,
          fmt::format("{} for {} do not fit: {} has {} of {} free", readable_memory(bytes), purpose, there,
                      readable_memory(memory.free), readable_memory(memory.total)),
          std::move(where), "close other models and programs"};
}

}  // namespace orrery::weights
