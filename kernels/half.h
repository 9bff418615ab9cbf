// float16 and bfloat16 bits to float32 and back, round to nearest even; 8-bit floats to float32. Plain code
// for the reference rows and for conversions outside hot loops; `static` so that a copy built for one ISA
// stays in its object.
#pragma once

#include <cstdint>
#include <cstring>

namespace orrery::kernels {

static inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float float_from_bf16(uint16_t half) {
  return float_from_bits(static_cast<uint32_t>(half) << 16);
}

static inline uint16_t bf16_from_float(float value) {
  const uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((bits >> 16) | 0x40);  // NaN stays NaN
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1)) >> 16);
}

static inline float float_from_f16(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffU) << 13;
  if (magnitude >= 0x0f800000U) return float_from_bits(sign | (magnitude + 0x70000000U));  // infinity, NaN
  // Scaling by 2^112 moves the exponent's bias from 15 to 127 and makes subnormals normal, exactly.
  return float_from_bits(sign | bits_of_float(float_from_bits(magnitude) * 0x1p112F));
}

static inline uint16_t f16_from_float(float value) {
  const uint32_t bits = bits_of_float(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x47800000U)
    return static_cast<uint16_t>(sign | 0x7c00U);  // 65536 and more; carries do the rest
  if (magnitude < 0x38800000U) {  // subnormal: adding 0.5 rounds at 2^-24, where float's grid has that step
    const float shifted = float_from_bits(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (bits_of_float(shifted) - 0x3f000000U));
  }
  const uint32_t rounded = magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

static inline float float_from_f8_e5m2(uint8_t bits) {  // the upper half of a float16
  return float_from_f16(static_cast<uint16_t>(bits << 8));
}

static inline float float_from_f8_e4m3(uint8_t bits) {
  if ((bits & 0x7fU) == 0x7fU)
    return float_from_bits(0x7fc00000U | static_cast<uint32_t>(bits & 0x80U) << 24);
  // A float16's fields with the exponent's bias 7 instead of 15: 2^8 too small, subnormals too.
  return float_from_f16(static_cast<uint16_t>((bits & 0x80U) << 8 | (bits & 0x7fU) << 7)) * 256.0F;
}

}  // namespace orrery::kernels
