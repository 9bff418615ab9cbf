#include "kernels/cuda/vitals.h"

#include <dlfcn.h>

namespace orrery::kernels::cuda {
namespace {

constexpr int kSuccess = 0;
constexpr int kSmClock = 1;         // NVML_CLOCK_SM
constexpr int kGpuTemperature = 0;  // NVML_TEMPERATURE_GPU

}  // namespace

template <class Function>
void Vitals::find(const char* name, Function& function) const {
  function = reinterpret_cast<Function>(dlsym(library_, name));
}

Vitals::Vitals(const std::string& pci_bus_id) {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library_) return;
  int (*init)() = nullptr;
  int (*by_bus)(const char*, Handle*) = nullptr;
  find("nvmlInit_v2", init);
  find("nvmlDeviceGetHandleByPciBusId_v2", by_bus);
  find("nvmlShutdown", shutdown_);
  find("nvmlDeviceGetMemoryInfo", memory_);
  find("nvmlDeviceGetMemoryInfo_v2", memory_v2_);
  find("nvmlDeviceGetClockInfo", clock_);
  find("nvmlDeviceGetPowerUsage", power_);
  find("nvmlDeviceGetTemperature", temperature_);
  find("nvmlDeviceGetUtilizationRates", utilization_);
  if (!init || init() != kSuccess) {
    shutdown_ = nullptr;
    return;
  }
  if (!by_bus || by_bus(pci_bus_id.c_str(), &card_) != kSuccess) card_ = nullptr;
}

Vitals::~Vitals() {
  if (shutdown_) shutdown_();
  if (library_) dlclose(library_);
}

/// The first form counts what the driver keeps for itself as used.
void Vitals::read_memory(DeviceVitals& vitals) const {
  MemoryV2 now{};
  now.version = static_cast<unsigned>(sizeof(MemoryV2)) | 2U << 24;
  Memory before{};
  if (memory_v2_ && memory_v2_(card_, &now) == kSuccess) {
    vitals.memory_used = now.used;
    vitals.memory_total = now.total;
  } else if (memory_ && memory_(card_, &before) == kSuccess) {
    vitals.memory_used = before.used;
    vitals.memory_total = before.total;
  }
}

DeviceVitals Vitals::read() const {
  DeviceVitals vitals;
  if (!card_) return vitals;
  read_memory(vitals);
  unsigned value = 0;
  if (clock_ && clock_(card_, kSmClock, &value) == kSuccess) vitals.clock_mhz = value;
  if (power_ && power_(card_, &value) == kSuccess) vitals.power_watts = value / 1000.0;
  if (temperature_ && temperature_(card_, kGpuTemperature, &value) == kSuccess) vitals.celsius = value;
  Utilization busy{};
  if (utilization_ && utilization_(card_, &busy) == kSuccess) vitals.busy_share = busy.gpu / 100.0;
  return vitals;
}

}  // namespace orrery::kernels::cuda
