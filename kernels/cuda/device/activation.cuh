// Activation functions on the card.
#pragma once

#include "kernels/activation.h"

namespace orrery::kernels::cuda {

struct Math {
  using Number = float;
  ORRERY_HOST_DEVICE_INLINE static float number(double x) { return static_cast<float>(x); }
  ORRERY_HOST_DEVICE_INLINE static float exp(float x) { return expf(x); }
  ORRERY_HOST_DEVICE_INLINE static float tanh(float x) { return tanhf(x); }
  ORRERY_HOST_DEVICE_INLINE static float abs(float x) { return fabsf(x); }
  ORRERY_HOST_DEVICE_INLINE static float fma(float a, float b, float c) { return fmaf(a, b, c); }
  ORRERY_HOST_DEVICE_INLINE static float fnma(float a, float b, float c) { return fmaf(-a, b, c); }
  ORRERY_HOST_DEVICE_INLINE static float where_negative(float x, float a, float b) {
    return x < 0.0F ? a : b;
  }
  /// The part of x / sqrt 2 that float32 drops would cost erfc digits far out, so it is put in to first
  /// order.
  ORRERY_HOST_DEVICE_INLINE static float normal_tail(float x) {
    constexpr float kHigh = 0.707106769F;
    constexpr float kLow = 1.21016175e-8F;  // sqrt(1/2) - kHigh
    const float z = x * kHigh;
    const float dropped = x < 32.0F ? fmaf(x, kLow, fmaf(x, kHigh, -z)) : 0.0F;
    const float slope = -1.12837917F * expf(-z * z);
    return 0.5F * fmaf(slope, dropped, erfcf(z));
  }
};

}  // namespace orrery::kernels::cuda
