// The CUDA module: liborrery_cuda.so, opened at run time when a person asks for a CUDA device. It lies beside
// the program or in ../lib of it; ORRERY_CUDA_MODULE names another file. Absent, built for another version,
// or without a driver, it is a refusal with its reason.
#pragma once

#include <memory>
#include <string>

#include "kernels/device.h"
#include "kernels/row_list.h"

namespace orrery::kernels {

/// Raised when device.h, row.h, row_list.h, a Problem or an Args changes: program and module are built
/// together.
constexpr uint32_t kDeviceModuleVersion = 9;

/// What `orrery_device_module` of the module returns.
struct DeviceModule {
  uint32_t version = kDeviceModuleVersion;
  /// Devices that can be opened; 0 with the reason (no driver, driver too old, no card).
  int (*count)(std::string& reason) = nullptr;
  /// Throws DeviceError.
  std::unique_ptr<Device> (*open)(int index) = nullptr;
  /// For the rows of a card, which need not be open; nothing known where there is none.
  Machine (*machine)(int index) = nullptr;
  RowTable rows;
};

/// The module, opened at the first call and kept; null with the reason and what to do.
const DeviceModule* cuda_module(std::string& reason);

/// The program's own rows, or the module's (none where there is no module).
const RowTable& rows_on(DeviceKind device);

/// What the rows of the kind are asked for: this machine, or the card with the index.
const Machine& machine_of(DeviceKind device, int index = 0);

/// The rows of one op, fastest first.
template <class Op>
std::span<const Row<Op>> rows_of(DeviceKind device) {
  return rows_on(device).of<Op>();
}

}  // namespace orrery::kernels
