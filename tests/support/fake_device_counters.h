// What the test module (fake_device_module.cpp) counts and knows of its memory, for tests that run in the
// program that opened it.
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

/// A function that the module exports; null where it is not open.
template <class Function>
Function* fake_device_function(const char* name) {
  const char* module = std::getenv("ORRERY_CUDA_MODULE");
  void* library = module ? dlopen(module, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

/// Null where the module is not open.
inline const FakeDeviceCounters* fake_device_counters() {
  auto* entry = fake_device_function<const FakeDeviceCounters*()>("orrery_fake_device_counters");
  return entry ? entry() : nullptr;
}

/// The index of the device whose memory it is; -1: the program's, or the module is not open.
inline int fake_device_owner(const void* memory) {
  auto* owner = fake_device_function<int(const void*)>("orrery_fake_device_owner");
  return owner ? owner(memory) : -1;
}

}  // namespace orrery
