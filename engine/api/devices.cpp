#include "engine/api/devices.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "engine/api/guard.h"
#include "engine/api/session.h"
#include "engine/runtime/devices.h"
#include "engine/weights/memory_state.h"
#include "kernels/cpu/isa.h"

namespace orrery::api {
namespace {

constexpr double kSm90FlopsPerClock = 4096;     // bf16 of one multiprocessor's tensor cores, dense
constexpr double kSm90Clock = 1.83e9;           // boost
constexpr double kSm90CacheBytesPerClock = 64;  // that one multiprocessor reads from the second cache

DeviceEntry cuda_entry(int index) {
  const auto device = runtime::open_device(index);
  if (device.ok()) return entry_of(device.value());
  return {to_string(kernels::cuda_id(index)), "", device.error().advice, 0, 0};
}

/// A refusal of what was asked for by an option of the command line.
Error with_option(Error error) {
  error.where = "--device";
  error.advice += "; or use --device cpu";
  return error;
}

}  // namespace

Result<kernels::DeviceId> parse_device(const std::string& name) {
  if (name == "cuda") return kernels::cuda_id(0);
  if (const auto id = kernels::parse_device_id(name)) return *id;
  return Error{ErrorCode::device, fmt::format("There is no device \"{}\"", name), "--device",
               "use cpu, or cuda:0 for the first CUDA device"};
}

Result<std::shared_ptr<runtime::DeviceScheduler>> scheduler_for(const std::string& device, int threads) {
  ORRERY_ASSIGN(const kernels::DeviceId id, parse_device(device));
  const int cores = kernels::available_cores();
  if (threads < 0 || threads > std::max(cores * 4, 256))
    return Error{ErrorCode::invalid_argument, fmt::format("{} threads cannot be started", threads),
                 "--threads", fmt::format("choose 1 to {}, or 0 for all cores", cores)};
  weights::DevicePtr opened;
  if (!id.is_cpu()) {
    auto device = runtime::open_device(id.index);
    if (!device.ok()) return with_option(std::move(device).error());
    opened = std::move(device).value();
  }
  using Key = std::pair<kernels::DeviceId, int>;  // threads of the CPU
  const Key key{id, id.is_cpu() ? (threads > 0 ? threads : cores) : 0};
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<runtime::DeviceScheduler>> schedulers;
  const std::scoped_lock lock(mutex);
  if (auto running = schedulers[key].lock()) return running;
  auto scheduler = std::make_shared<runtime::DeviceScheduler>(threads, std::move(opened));
  schedulers[key] = scheduler;
  return scheduler;
}

DeviceEntry entry_of(const weights::DevicePtr& device) {
  const weights::MemoryState memory = weights::memory_of(device);
  return {device ? to_string(device->id()) : "cpu", device ? device->facts().name : kernels::isa_summary(),
          "", memory.total, memory.free};
}

MachineLimits limits_of(const kernels::DeviceFacts& facts) {
  MachineLimits limits;
  limits.cpu = facts.name;
  if (!facts.architecture.starts_with("sm_90")) {
    if (facts.peak_bytes_per_second > 0) limits.reading = {{0, facts.peak_bytes_per_second}};
    return limits;
  }
  limits.operations_per_second.fill(kSm90FlopsPerClock * kSm90Clock * facts.multiprocessors);
  limits.operations_per_second[static_cast<size_t>(Arithmetic::f8)] *= 2;
  // Of a set that is larger than the cache the cache's share at most is found there.
  const double cached = kSm90CacheBytesPerClock * kSm90Clock * facts.multiprocessors;
  const auto cache = static_cast<double>(facts.l2_bytes);
  for (const double times : {1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0}) {
    const double from_memory = 1 - 1 / times;
    limits.reading.push_back({times * cache, from_memory * cached > facts.peak_bytes_per_second
                                                 ? facts.peak_bytes_per_second / from_memory
                                                 : cached});
  }
  return limits;
}

std::vector<DeviceEntry> list_devices() {
  return guarded_or_empty([] {
    std::vector<DeviceEntry> entries{entry_of(nullptr)};
    std::string reason;
    const int count = runtime::device_count(reason);
    if (count == 0) entries.push_back({to_string(kernels::cuda_id(0)), "", reason, 0, 0});
    for (int index = 0; index < count; ++index) entries.push_back(cuda_entry(index));
    return entries;
  });
}

}  // namespace orrery::api
