// What the test module (fake_device_module.cpp) counts, for tests that run in the program that opened it.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace orrery {

struct FakeDeviceCounters {
  std::atomic<uint64_t> captures{0};   // graphs
  std::atomic<uint64_t> questions{0};  // rows that were asked whether they support a problem: plans are made
  std::atomic<uint64_t> commits{0};    // memory for reserved addresses

  uint64_t all() const { return captures + questions + commits; }
};

/// Null where the module is not open.
inline const FakeDeviceCounters* fake_device_counters() {
  const char* module = std::getenv("ORRERY_CUDA_MODULE");
  void* library = module ? dlopen(module, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!library) return nullptr;
  using Entry = const FakeDeviceCounters* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "orrery_fake_device_counters"));
  return entry ? entry() : nullptr;
}

}  // namespace orrery
