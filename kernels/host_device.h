// Marks functions that CUDA kernels call too.
#pragma once

#ifdef __CUDACC__
#define ORRERY_HOST_DEVICE __host__ __device__
#define ORRERY_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
/// Before a template that calls what it is given, for the host or for the device.
#define ORRERY_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define ORRERY_HOST_DEVICE
#define ORRERY_NO_EXEC_CHECK
/// Leaves no symbol behind, so that sources built for one ISA may use it (README.md).
#define ORRERY_HOST_DEVICE_INLINE [[gnu::always_inline]] inline
#endif
