// The CUDA devices of this machine.
#pragma once

#include "engine/weights/weight_store.h"

namespace orrery::runtime {

/// How many can be opened; 0 with the reason and what to do: no module, no driver, no card.
int device_count(std::string& reason);

/// The device, shared by all that use it at the same time; the reason of device_count(), or that there is no
/// such index, or why it cannot be opened.
Result<weights::DevicePtr> open_device(int index);

}  // namespace orrery::runtime
