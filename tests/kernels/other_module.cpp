// A device module as another version of the program would have it.
#include "kernels/device_module.h"

extern "C" const orrery::kernels::DeviceModule* orrery_device_module() {
  static const orrery::kernels::DeviceModule module{
      orrery::kernels::kDeviceModuleVersion + 1, nullptr, nullptr, {}, {}};
  return &module;
}
