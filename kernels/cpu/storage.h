// Operands that Args give by float*, stored as a problem's Storage tells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"

namespace orrery::kernels {

/// The address of an element, whose type the pointer's is only where it is f32.
inline float* element_of(float* operand, DType dtype, int64_t index) {
  return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(operand) +
                                  index * dtype_info(dtype).block_bytes);
}

inline const float* element_of(const float* operand, DType dtype, int64_t index) {
  return element_of(const_cast<float*>(operand), dtype, index);
}

}  // namespace orrery::kernels
