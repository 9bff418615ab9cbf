// Functions of the driver, asked from the runtime, so that libcuda is not linked.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

/// Throws DeviceError where the driver has none of that name.
template <class Function>
void find_in_driver(const char* name, Function& function) {
  constexpr unsigned kDriverVersion = 12000;  // what is asked for is older; the ABI is this one's
  void* found = nullptr;
  cudaDriverEntryPointQueryResult state{};
  check(cudaGetDriverEntryPointByVersion(name, &found, kDriverVersion, cudaEnableDefault, &state), name);
  if (state != cudaDriverEntryPointSuccess || found == nullptr)
    throw DeviceError(DeviceError::Kind::failed,
                      std::string("the NVIDIA driver has no ") + name + ": install a newer driver");
  function = reinterpret_cast<Function>(found);
}

}  // namespace orrery::kernels::cuda
