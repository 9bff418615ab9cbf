// Arithmetic in float64 that gives the same bits on every device: compilers of cards join a product and a sum
// into one rounding where nobody asks them not to.
#pragma once

#include "kernels/host_device.h"

namespace orrery::kernels {

/// A product and a sum are rounded each. On the host, of code that is built without FMA or with
/// -ffp-contract=off.
struct EachRounded {
  ORRERY_HOST_DEVICE_INLINE static double mul(double x, double y) {
#ifdef __CUDA_ARCH__
    return __dmul_rn(x, y);
#else
    return x * y;
#endif
  }
  ORRERY_HOST_DEVICE_INLINE static double add(double x, double y) {
#ifdef __CUDA_ARCH__
    return __dadd_rn(x, y);
#else
    return x + y;
#endif
  }
};

}  // namespace orrery::kernels
