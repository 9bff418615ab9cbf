// What a card says of itself, by NVML. The library comes with the driver and is opened at run time; the
// few declarations used here are those of its public interface, version 11 and later.
#pragma once

#include <string>

#include "kernels/device.h"

namespace orrery::kernels::cuda {

class Vitals {
 public:
  /// The card at this PCI address. Without NVML all is zero.
  explicit Vitals(const std::string& pci_bus_id);
  ~Vitals();
  Vitals(const Vitals&) = delete;
  Vitals& operator=(const Vitals&) = delete;

  /// Cheap enough for some calls a second. From any thread.
  DeviceVitals read() const;

 private:
  struct Memory {
    unsigned long long total, free, used;
  };
  struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
  };
  struct Utilization {
    unsigned gpu, memory;  // percent of the last sample period
  };
  using Handle = void*;

  template <class Function>
  void find(const char* name, Function& function) const;
  void read_memory(DeviceVitals& vitals) const;

  void* library_ = nullptr;
  Handle card_ = nullptr;
  int (*shutdown_)() = nullptr;
  int (*memory_)(Handle, Memory*) = nullptr;
  int (*memory_v2_)(Handle, MemoryV2*) = nullptr;
  int (*clock_)(Handle, int, unsigned*) = nullptr;
  int (*power_)(Handle, unsigned*) = nullptr;
  int (*temperature_)(Handle, int, unsigned*) = nullptr;
  int (*utilization_)(Handle, Utilization*) = nullptr;
};

}  // namespace orrery::kernels::cuda
