// One CUDA card as a kernels::Device.
#pragma once

#include <memory>
#include <string>

#include "kernels/device.h"

namespace orrery::kernels::cuda {

/// Cards that the driver shows; 0 with the reason, for a person.
int count_devices(std::string& reason);

/// Makes the card's context. One Device a card and process: renew() resets the card for the whole process.
/// Throws DeviceError.
std::unique_ptr<Device> open_device(int index);

}  // namespace orrery::kernels::cuda
