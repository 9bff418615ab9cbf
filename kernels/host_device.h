// Marks constexpr functions that CUDA kernels call too.
#pragma once

#ifdef __CUDACC__
#define ORRERY_HOST_DEVICE __host__ __device__
#else
#define ORRERY_HOST_DEVICE
#endif
