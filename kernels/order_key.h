// Elements of any type as unsigned numbers of their width that stand in the order of the elements, so that
// one comparison of integers, or one digit after another, sorts every type.
//   floats        -infinity < ... < -0 = 0 < ... < infinity < NaN, whatever the sign and the rest of a NaN
//   whole numbers as they are; false before true
#pragma once

#include "kernels/dtype.h"
#include "kernels/host_device.h"

namespace orrery::kernels {

/// Bits: the unsigned type of the element's width. Without branches, so that loops over it become vectors.
template <class Bits>
struct OrderKey {
  Bits sign = 0;  // the bit of what is below zero; 0: nothing is
  Bits negated =
      0;  // the same, of floats: sign and magnitude become a number below that of 0, which -0 shares
  Bits greatest = 0;  // of the magnitudes that are no NaN
  Bits flip = 0;      // all bits where the greatest comes first

  ORRERY_HOST_DEVICE_INLINE Bits operator()(Bits bits) const {
    const Bits whole = static_cast<Bits>(bits ^ sign), below = static_cast<Bits>(Bits{0} - bits);
    const Bits magnitude = static_cast<Bits>(bits & static_cast<Bits>(~sign));
    const Bits number = (bits & negated) != 0 ? below : whole;
    const Bits key = magnitude > greatest ? static_cast<Bits>(~Bits{0}) : number;
    return static_cast<Bits>(key ^ flip);
  }
};

/// Of a type of that width; smaller keys come first.
template <class Bits>
constexpr OrderKey<Bits> order_key(DType dtype, bool largest) {
  constexpr auto kAll = static_cast<Bits>(~Bits{0});
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  OrderKey<Bits> key;
  if (dtype != DType::u8 && dtype != DType::boolean) key.sign = kSign;
  if (is_float(dtype)) key.negated = kSign;
  key.greatest = dtype == DType::f32    ? static_cast<Bits>(0x7F800000U)
                 : dtype == DType::f16  ? static_cast<Bits>(0x7C00U)
                 : dtype == DType::bf16 ? static_cast<Bits>(0x7F80U)
                                        : kAll;
  if (largest) key.flip = kAll;
  return key;
}

/// function(Bits{}) of an is_element type.
template <class Function>
void with_bits(DType dtype, Function&& function) {
  switch (dtype_info(dtype).block_bytes) {
    case 1:
      return function(uint8_t{});
    case 2:
      return function(uint16_t{});
    case 4:
      return function(uint32_t{});
    default:
      return function(uint64_t{});
  }
}

}  // namespace orrery::kernels
