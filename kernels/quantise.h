// Rows of float32 as they are stored: what dequantise_row (linear.h) reads back.
#pragma once

#include <cstdint>

#include "kernels/dtype.h"

namespace orrery::kernels {

/// Whether quantise_row writes the type: all but IQ4_NL, IQ4_XS, MXFP4 and the 8-bit floats.
bool can_quantise(DType dtype);

/// One row of float32 to a type that can_quantise; nothing is written for others. cols is a multiple of the
/// type's block.
///   floats, integers   round to nearest; integers are clamped, NaN is 0
///   Q4_0 to Q8_0       the bytes of GGUF's reference: the range of a block in equal steps
///   Q2_K to Q6_K       scales and mins that a search found to make the squared error small (quantise_k.cpp)
/// A block with a number that is not finite is NaN throughout, so that it is seen. What a block's float16
/// scale is too small for is zero, and what it is too large for is not finite either.
void quantise_row(DType dtype, const float* src, int64_t cols, void* dst);

}  // namespace orrery::kernels
