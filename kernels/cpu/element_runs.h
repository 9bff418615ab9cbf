// Runs of elements of any type as float32 or as 64-bit integers and back, converted as copy.h says. Plain
// loops of one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"

namespace orrery::kernels {

/// Elements that kernels convert at a time: buffers of the three operands stay in L1.
inline constexpr int64_t kRun = 256;

/// n elements `stride` apart (0: the same each time).
void load_run(DType dtype, const void* src, int64_t stride, int64_t n, float* dst);
void load_run(DType dtype, const void* src, int64_t stride, int64_t n, int64_t* dst);
void store_run(DType dtype, const float* src, int64_t n, void* dst, int64_t stride);
void store_run(DType dtype, const int64_t* src, int64_t n, void* dst, int64_t stride);

/// Element `index` behind an address.
inline const std::byte* at(DType dtype, const void* base, int64_t index) {
  return static_cast<const std::byte*>(base) + index * dtype_info(dtype).block_bytes;
}
inline std::byte* at(DType dtype, void* base, int64_t index) {
  return static_cast<std::byte*>(base) + index * dtype_info(dtype).block_bytes;
}

}  // namespace orrery::kernels
