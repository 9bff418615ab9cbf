// Elements of any type as float or as 64-bit integers and back, converted as copy.h says. The type is known
// when it runs: one branch, the same for all threads.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "kernels/dtype.h"

namespace orrery::kernels::cuda {

/// T: float or int64_t.
template <class T>
__device__ inline T load_element(DType dtype, const void* base, int64_t index) {
  switch (dtype) {
    case DType::f32:
      return static_cast<T>(static_cast<const float*>(base)[index]);
    case DType::f16:
      return static_cast<T>(__half2float(static_cast<const __half*>(base)[index]));
    case DType::bf16:
      return static_cast<T>(__bfloat162float(static_cast<const __nv_bfloat16*>(base)[index]));
    case DType::i8:
      return static_cast<T>(static_cast<const int8_t*>(base)[index]);
    case DType::i16:
      return static_cast<T>(static_cast<const int16_t*>(base)[index]);
    case DType::i32:
      return static_cast<T>(static_cast<const int32_t*>(base)[index]);
    case DType::i64:
      return static_cast<T>(static_cast<const int64_t*>(base)[index]);
    default:  // u8, bool
      return static_cast<T>(static_cast<const uint8_t*>(base)[index]);
  }
}

/// Towards zero, held to [low, high]; NaN gives 0.
__device__ inline int64_t whole_number(float value, int64_t low, int64_t high) {
  if (isnan(value)) return 0;
  if (value <= static_cast<float>(low)) return low;
  if (value >= static_cast<float>(high)) return high;
  return static_cast<int64_t>(value);
}
__device__ inline int64_t whole_number(int64_t value, int64_t, int64_t) { return value; }  // wraps

template <class T>
__device__ inline void store_element(DType dtype, T value, void* base, int64_t index) {
  switch (dtype) {
    case DType::f32:
      static_cast<float*>(base)[index] = static_cast<float>(value);
      return;
    case DType::f16:
      static_cast<__half*>(base)[index] = __float2half_rn(static_cast<float>(value));
      return;
    case DType::bf16:
      static_cast<__nv_bfloat16*>(base)[index] = __float2bfloat16_rn(static_cast<float>(value));
      return;
    case DType::i8:
      static_cast<int8_t*>(base)[index] = static_cast<int8_t>(whole_number(value, -128, 127));
      return;
    case DType::i16:
      static_cast<int16_t*>(base)[index] = static_cast<int16_t>(whole_number(value, -32768, 32767));
      return;
    case DType::i32:
      static_cast<int32_t*>(base)[index] = static_cast<int32_t>(whole_number(value, INT32_MIN, INT32_MAX));
      return;
    case DType::i64:
      static_cast<int64_t*>(base)[index] = whole_number(value, INT64_MIN, INT64_MAX);
      return;
    case DType::u8:
      static_cast<uint8_t*>(base)[index] = static_cast<uint8_t>(whole_number(value, 0, 255));
      return;
    default:  // bool
      static_cast<uint8_t*>(base)[index] = static_cast<uint8_t>(value != T{0});
  }
}

}  // namespace orrery::kernels::cuda
