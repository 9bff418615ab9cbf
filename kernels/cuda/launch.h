// How the module launches kernels: on the stream of the call, capturable, and with programmatic dependent
// launch, so that a kernel's start overlaps its predecessor's end.
//
// Cards before compute capability 9.0 have no such launch, nor has PTX for them: there a kernel begins when
// its predecessor is done, and the two functions do nothing.
//
// Every kernel that is launched here begins with pdl_wait() before it reads what another kernel wrote or
// writes anything global. Before that it may read weights. pdl_trigger() lets the successor's blocks start
// while this kernel runs on; it pays where one wave of blocks leaves room (at most about two blocks of
// little shared memory on each multiprocessor), and costs where it does not (measured: 1,056 blocks, trigger
// at the start, lose), so it is left out when unsure.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/cuda/card.h"
#include "kernels/device.h"
#include "kernels/row.h"

namespace orrery::kernels::cuda {

/// Throws DeviceError for what a CUDA call returned; `what` says what was tried.
void check(cudaError_t result, const char* what);

inline cudaStream_t stream_of(const Launch& launch) { return static_cast<cudaStream_t>(launch.stream); }

/// Tiles of `each` that `count` takes.
inline int tiles_of(int64_t count, int each) { return static_cast<int>((count + each - 1) / each); }

/// Null counts as aligned.
inline bool is_aligned(const void* pointer, size_t bytes = 16) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// Beyond 48 KB of shared memory a kernel must be told. That counts what it has of its own, which is below 16.
constexpr size_t kPlainShared = 32 * 1024;

constexpr unsigned kPortableCluster = 8;  // of larger ones a kernel must be told

/// Blocks that lie side by side in x form clusters of `cluster`; 0: none. Blocks of zero extent are not
/// launched.
template <class... Params, class... Args>
void launch_clusters(const Launch& on, void (*kernel)(Params...), unsigned cluster, dim3 grid, dim3 block,
                     size_t shared, Args&&... args) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared > kPlainShared)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "asking for shared memory");
  if (cluster > kPortableCluster)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
          "asking for large clusters");
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (current_card().code >= 90) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 0) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {cluster, 1, 1};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream_of(on);
  config.attrs = attributes;
  config.numAttrs = count;
  check(cudaLaunchKernelEx(&config, kernel, Params(std::forward<Args>(args))...), "starting a kernel");
}

template <class... Params, class... Args>
void launch_kernel(const Launch& on, void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared,
                   Args&&... args) {
  launch_clusters(on, kernel, 0, grid, block, shared, std::forward<Args>(args)...);
}

/// Blocks in x for a kernel whose threads go on to further items, of which those of a block take so many at a
/// time: as many as pay on the current card (tile_config.h) at most.
dim3 pointwise_grid(int64_t items, int64_t items_of_block);

/// Throws DeviceError where operands do not lie as the problem said, which the row was chosen for.
void require_aligned(bool aligned);

#ifdef __CUDACC__
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr bool kHopper = true;  // what is compiled may use clusters and programmatic launch
#define ORRERY_HOPPER(...) __VA_ARGS__
#else
constexpr bool kHopper = false;
#define ORRERY_HOPPER(...)
#endif

/// Waits until all kernels before this one are done and their writes can be read.
__device__ inline void pdl_wait() { ORRERY_HOPPER(asm volatile("griddepcontrol.wait;" ::: "memory");) }
__device__ inline void pdl_trigger() {
  ORRERY_HOPPER(asm volatile("griddepcontrol.launch_dependents;" ::: "memory");)
}
#endif

}  // namespace orrery::kernels::cuda
