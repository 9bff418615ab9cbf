#include "kernels/device_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/rows.h"

namespace orrery::kernels {
namespace {

constexpr const char* kName = "liborrery_cuda.so";
constexpr const char* kEntry = "orrery_device_module";

std::vector<std::string> places() {
  if (const char* named = std::getenv("ORRERY_CUDA_MODULE"); named != nullptr && *named != 0) return {named};
  std::error_code ignored;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  // Tests lie beside bin.
  return {program / kName, program / "../lib" / kName, program / "../bin" / kName, kName};
}

struct Opened {
  const DeviceModule* module = nullptr;
  std::string reason;
};

Opened open_module() {
  std::string problem;
  for (const std::string& place : places()) {
    if (place.find('/') != std::string::npos && access(place.c_str(), F_OK) != 0) continue;
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = dlerror();
      continue;
    }
    using Entry = const DeviceModule* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(library, kEntry));
    if (entry == nullptr) return {nullptr, place + " is no module of this program"};
    const DeviceModule* module = entry();
    if (module->version != kDeviceModuleVersion)
      return {nullptr, place + " belongs to another version of this program: build both together"};
    return {module, {}};
  }
  if (problem.empty() || problem.find("No such file") != std::string::npos)
    return {nullptr,
            "the CUDA module (liborrery_cuda.so) was not built: install the CUDA Toolkit and build again"};
  return {nullptr, "the CUDA module cannot be opened: " + problem};
}

}  // namespace

const DeviceModule* cuda_module(std::string& reason) {
  static const Opened opened = open_module();
  reason = opened.reason;
  return opened.module;
}

const Machine& machine_of(DeviceKind device, int index) {
  static const Machine none;
  if (device == DeviceKind::cpu) return this_machine();
  std::string reason;
  const DeviceModule* module = cuda_module(reason);
  if (module == nullptr) return none;
  static std::mutex mutex;
  static std::map<int, Machine> cards;
  const std::lock_guard lock(mutex);
  const auto known = cards.find(index);
  return known != cards.end() ? known->second : cards.emplace(index, module->machine(index)).first->second;
}

const RowTable& rows_on(DeviceKind device) {
  static const RowTable none;
  if (device == DeviceKind::cpu) return cpu_rows();
  if (device != DeviceKind::cuda) return none;
  std::string reason;
  const DeviceModule* module = cuda_module(reason);
  return module != nullptr ? module->rows : none;
}

}  // namespace orrery::kernels
