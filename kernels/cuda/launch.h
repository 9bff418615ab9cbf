// How the module launches kernels: on the stream of the call, capturable, and with programmatic dependent
// launch, so that a kernel's start overlaps its predecessor's end.
//
// Every kernel that is launched here begins with pdl_wait() before it reads what another kernel wrote or
// writes anything global. Before that it may read weights. pdl_trigger() lets the successor's blocks start
// while this kernel runs on; it pays where one wave of blocks leaves room (at most about 132 x 2 blocks of
// little shared memory), and costs where it does not (measured: 1,056 blocks, trigger at the start, lose), so
// it is left out when unsure.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/device.h"
#include "kernels/row.h"

namespace orrery::kernels::cuda {

/// Throws DeviceError for what a CUDA call returned; `what` says what was tried.
void check(cudaError_t result, const char* what);

/// Of the current device.
int multiprocessors();

inline cudaStream_t stream_of(const Launch& launch) { return static_cast<cudaStream_t>(launch.stream); }

/// Null counts as aligned.
inline bool is_aligned(const void* pointer, size_t bytes = 16) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

constexpr size_t kPlainShared = 48 * 1024;  // above it a kernel must be told

/// Blocks of zero extent are not launched.
template <class... Params, class... Args>
void launch_kernel(const Launch& on, void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared,
                   Args&&... args) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared > kPlainShared)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "asking for shared memory");
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream_of(on);
  config.attrs = &overlap;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, Params(std::forward<Args>(args))...), "starting a kernel");
}

#ifdef __CUDACC__
/// Waits until all kernels before this one are done and their writes can be read.
__device__ inline void pdl_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void pdl_trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#endif

}  // namespace orrery::kernels::cuda
