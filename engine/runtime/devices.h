// The CUDA devices of this machine, and what of them a model uses.
#pragma once

#include <optional>

#include "engine/weights/weight_store.h"

namespace orrery::runtime {

/// How many can be opened; 0 with the reason and what to do: no module, no driver, no card.
int device_count(std::string& reason);

/// The device, shared by all that use it at the same time; the reason of device_count(), or that there is no
/// such index, or why it cannot be opened.
Result<weights::DevicePtr> open_device(int index);

/// What the nodes of one model may run on: the CPU, and one card at most.
struct ModelDevices {
  kernels::DeviceKind home = kernels::DeviceKind::cpu;  // of what names no device
  weights::DevicePtr card;                              // null: all run on the CPU

  /// Where what is placed on `device` (none: at home) has its memory; null: the program's.
  weights::DevicePtr memory_of(std::optional<kernels::DeviceKind> device) const {
    return device.value_or(home) == kernels::DeviceKind::cpu ? nullptr : card;
  }
};

}  // namespace orrery::runtime
