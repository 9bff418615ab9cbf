// The devices of this machine: their names, what they are asked for by, and the one scheduler of each.
#pragma once

#include <memory>

#include "engine/api/types.h"
#include "engine/runtime/device_scheduler.h"
#include "kernels/device_id.h"

namespace orrery::api {

/// "cuda" is "cuda:0". Refuses words that name no device.
Result<kernels::DeviceId> parse_device(const std::string& name);

/// One scheduler per device; on the CPU one for each number of threads, so that two sessions never fight for
/// cores. threads 0: all cores.
Result<std::shared_ptr<runtime::DeviceScheduler>> scheduler_for(const std::string& device, int threads);

/// As list_devices() tells of one that is open; null: the CPU.
DeviceEntry entry_of(const weights::DevicePtr& device);

/// What a card can do, from what is known of its architecture.
MachineLimits limits_of(const kernels::DeviceFacts& facts);

}  // namespace orrery::api
