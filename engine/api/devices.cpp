#include "engine/api/devices.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <utility>

#include "engine/api/guard.h"
#include "engine/api/session.h"
#include "engine/runtime/devices.h"
#include "kernels/cpu/isa.h"

namespace orrery::api {
namespace {

constexpr std::string_view kCuda = "cuda";
constexpr double kSm90FlopsPerClock = 4096;  // bf16 of one multiprocessor's tensor cores, dense
constexpr double kSm90Clock = 1.83e9;        // boost

DeviceEntry cpu_entry() {
  const MemoryState memory = memory_of(nullptr);
  return {"cpu", kernels::isa_summary(), "", memory.total, memory.free};
}

DeviceEntry cuda_entry(int index) {
  DeviceEntry entry{device_name(index), "", "", 0, 0};
  const auto device = runtime::open_device(index);
  if (!device.ok()) {
    entry.refusal = device.error().advice;
    return entry;
  }
  const MemoryState memory = memory_of(device.value());
  entry.name = device.value()->facts().name;
  entry.memory_bytes = memory.total;
  entry.free_bytes = memory.free;
  return entry;
}

/// A refusal of what was asked for by an option of the command line.
Error with_option(Error error) {
  error.where = "--device";
  error.advice += "; or use --device cpu";
  return error;
}

/// A line of /proc/meminfo, in bytes.
uint64_t memory_line(std::string_view key) {
  std::ifstream stream("/proc/meminfo");
  std::string name, unit;
  for (uint64_t kilobytes = 0; stream >> name >> kilobytes; std::getline(stream, unit))
    if (name == key) return kilobytes * 1024;
  return 0;
}

}  // namespace

Result<std::optional<int>> parse_device(const std::string& name) {
  if (name == "cpu") return std::optional<int>();
  const Error unknown{ErrorCode::device, fmt::format("There is no device \"{}\"", name), "--device",
                      "use cpu, or cuda:0 for the first CUDA device"};
  if (!name.starts_with(kCuda)) return unknown;
  if (name == kCuda) return std::optional<int>(0);
  const char *begin = name.data() + kCuda.size() + 1, *end = name.data() + name.size();
  int index = 0;
  if (name[kCuda.size()] != ':' || begin == end) return unknown;
  const auto [stopped, error] = std::from_chars(begin, end, index);
  if (error != std::errc() || stopped != end || index < 0) return unknown;
  return std::optional<int>(index);
}

std::string device_name(const std::optional<int>& index) {
  return index ? fmt::format("cuda:{}", *index) : "cpu";
}

Result<std::shared_ptr<runtime::DeviceScheduler>> scheduler_for(const std::string& device, int threads) {
  ORRERY_ASSIGN(const std::optional<int> index, parse_device(device));
  const int cores = kernels::available_cores();
  if (threads < 0 || threads > std::max(cores * 4, 256))
    return Error{ErrorCode::invalid_argument, fmt::format("{} threads cannot be started", threads),
                 "--threads", fmt::format("choose 1 to {}, or 0 for all cores", cores)};
  weights::DevicePtr opened;
  if (index) {
    auto device = runtime::open_device(*index);
    if (!device.ok()) return with_option(std::move(device).error());
    opened = std::move(device).value();
  }
  using Key = std::pair<int, int>;  // device, -1 the CPU; threads there
  const Key key = index ? Key{*index, 0} : Key{-1, threads > 0 ? threads : cores};
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<runtime::DeviceScheduler>> schedulers;
  const std::scoped_lock lock(mutex);
  if (auto running = schedulers[key].lock()) return running;
  auto scheduler = std::make_shared<runtime::DeviceScheduler>(threads, std::move(opened));
  schedulers[key] = scheduler;
  return scheduler;
}

MemoryState memory_of(const weights::DevicePtr& device) {
  if (!device) return {memory_line("MemTotal:"), memory_line("MemAvailable:")};
  const kernels::DeviceVitals vitals = device->vitals();
  const uint64_t total = vitals.memory_total > 0 ? vitals.memory_total : device->facts().memory_bytes;
  return {total, total > vitals.memory_used ? total - vitals.memory_used : 0};
}

MachineLimits limits_of(const kernels::DeviceFacts& facts) {
  MachineLimits limits;
  limits.cpu = facts.name;
  limits.read_gbytes_per_second = facts.peak_bytes_per_second * 1e-9;
  if (facts.architecture.starts_with("sm_90"))
    limits.gflops = kSm90FlopsPerClock * kSm90Clock * facts.multiprocessors * 1e-9;
  return limits;
}

std::vector<DeviceEntry> list_devices() {
  return guarded_or_empty([] {
    std::vector<DeviceEntry> entries{cpu_entry()};
    std::string reason;
    const int count = runtime::device_count(reason);
    if (count == 0) entries.push_back({device_name(0), "", reason, 0, 0});
    for (int index = 0; index < count; ++index) entries.push_back(cuda_entry(index));
    return entries;
  });
}

}  // namespace orrery::api
