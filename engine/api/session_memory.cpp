// What a session does about memory that does not suffice.
#include <algorithm>

#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/session_impl.h"
#include "engine/compile/states.h"

namespace orrery::api {
namespace {

constexpr int64_t kSequencesPlanned = 64;  // how many full contexts the KV cache may hold, memory permitting

}  // namespace

/// Many contexts, but at most half of the memory that is left beside the weights, and one context in any
/// case. The CPU's memory is not counted as it is free now: the system makes room.
int64_t kv_tokens(const MemoryDemand& demand, const runtime::Model::Options& options) {
  const uint64_t page = demand.page_bytes_as(kv_type_name(options.kv_dtype));
  if (page == 0) return options.context;
  const DeviceEntry device = entry_of(options.device);
  const uint64_t weights = options.device ? demand.cuda.weights : 0;
  const uint64_t memory = options.device ? device.free_bytes : device.memory_bytes;
  const auto pages = static_cast<int64_t>((memory > weights ? memory - weights : 0) / 2 / page);
  return std::clamp(pages * demand.page_tokens, options.context, options.context * kSequencesPlanned);
}

std::vector<DeviceEntry> devices_beside(const weights::DevicePtr& device) {
  std::vector<DeviceEntry> devices{entry_of(device)};
  if (device) devices.push_back(entry_of(nullptr));
  return devices;
}

uint64_t SessionImpl::context_bytes() const {
  const runtime::Model::Options& run = parts_.model->options();
  return compile::kv_cache_bytes(*state()->model, run.kv_dtype, run.context);
}

/// What the session itself holds counts as free: it would give that back.
std::vector<Offer> SessionImpl::memory_offers() const {
  return guarded_or_empty([&] {
    std::vector<DeviceEntry> devices = devices_beside(parts_.scheduler->device());
    devices.front().free_bytes += memory_use().session();
    return api::memory_offers(parts_.demand, parts_.options, devices);
  });
}

Error SessionImpl::with_offers(Error error) const {
  if (error.code != ErrorCode::out_of_memory) return error;
  error.advice = advice_of(memory_offers(), parts_.options.device);
  return error;
}

}  // namespace orrery::api
