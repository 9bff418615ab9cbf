// What the block formats' codes stand for, for the host and for devices (formats: ref/quant_blocks.h).
#pragma once

#include <cstdint>

#include "kernels/host_device.h"

namespace orrery::kernels {

/// The levels of IQ4_NL and IQ4_XS: finer around zero.
static constexpr ORRERY_HOST_DEVICE int iq4_value(int code) {
  constexpr int8_t values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  return values[code];
}

/// Twice the 4-bit float E2M1 of MXFP4.
static constexpr ORRERY_HOST_DEVICE int mxfp4_value(int code) {
  constexpr int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  return values[code];
}

/// Bits of the float32 2^(exponent - 128), half of what MXFP4's E8M0 exponent says, for mxfp4_value's twice.
static constexpr ORRERY_HOST_DEVICE uint32_t mxfp4_scale_bits(uint32_t exponent) {
  return exponent < 2 ? 0x00200000U << exponent : (exponent - 1) << 23;
}

}  // namespace orrery::kernels
