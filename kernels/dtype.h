// Element types as stored in memory and in files. Block formats follow the GGUF specification (ggml), F8
// types the OCP 8-bit floating point specification (E4M3 has no infinity).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/host_device.h"

namespace orrery {

enum class DType : uint8_t {
#define ORRERY_DTYPE(type, ...) type,
#include "kernels/dtypes.inc"
#undef ORRERY_DTYPE
};
inline constexpr int kDTypes = 0
#define ORRERY_DTYPE(type, ...) +1
#include "kernels/dtypes.inc"
#undef ORRERY_DTYPE
    ;
inline constexpr DType kLastDType = static_cast<DType>(kDTypes - 1);

/// A row of `cols` elements is stored as cols / block_elements blocks of block_bytes each (dtypes.inc).
struct DTypeInfo {
  std::string_view name;
  int block_elements, block_bytes, alignment;
};
[[gnu::always_inline]] constexpr DTypeInfo dtype_info(DType dtype) {  // leaves no symbol in an ISA's objects
  switch (dtype) {
#define ORRERY_DTYPE(type, name, elements, bytes, alignment, ...) \
  case DType::type:                                               \
    return {name, elements, bytes, alignment};
#include "kernels/dtypes.inc"
#undef ORRERY_DTYPE
  }
  return {"?", 1, 1, 1};
}

/// Bytes of the planes of CUDA lanes (dtypes.inc); all 0: the type is not packed so.
struct DTypeLanes {
  int quants, high, scales, deltas;
};
ORRERY_HOST_DEVICE constexpr DTypeLanes lanes_of(DType dtype) {
  switch (dtype) {
#define ORRERY_DTYPE(type, name, elements, bytes, alignment, ...) \
  case DType::type:                                               \
    return {__VA_ARGS__};
#include "kernels/dtypes.inc"
#undef ORRERY_DTYPE
  }
  return {};
}

constexpr std::string_view name_of(DType dtype) { return dtype_info(dtype).name; }
constexpr bool is_quantised(DType dtype) { return dtype_info(dtype).block_elements > 1; }
/// Its blocks hold blocks with scales of their own.
constexpr bool is_super_block(DType dtype) { return dtype_info(dtype).block_elements == 256; }
/// What activations are computed in.
constexpr bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}
constexpr bool is_integer(DType dtype) {
  return dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64 ||
         dtype == DType::u8;
}
/// Of these any value may be; the others are how weights are stored. A bool is a byte, 0 or 1.
constexpr bool is_element(DType dtype) {
  return is_float(dtype) || is_integer(dtype) || dtype == DType::boolean;
}
constexpr bool is_f8(DType dtype) { return dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2; }

/// What an element of an is_element type is in memory; 16-bit floats are their bits.
template <DType kDType>
struct ElementOf;
template <>
struct ElementOf<DType::f32> {
  using Type = float;
};
template <>
struct ElementOf<DType::f16> {
  using Type = uint16_t;
};
template <>
struct ElementOf<DType::bf16> {
  using Type = uint16_t;
};
template <>
struct ElementOf<DType::i8> {
  using Type = int8_t;
};
template <>
struct ElementOf<DType::i16> {
  using Type = int16_t;
};
template <>
struct ElementOf<DType::i32> {
  using Type = int32_t;
};
template <>
struct ElementOf<DType::i64> {
  using Type = int64_t;
};
template <>
struct ElementOf<DType::u8> {
  using Type = uint8_t;
};
template <>
struct ElementOf<DType::boolean> {
  using Type = uint8_t;
};
template <DType kDType>
using Element = typename ElementOf<kDType>::Type;

template <DType kDType>
struct DTypeConstant {
  static constexpr DType value = kDType;
};

/// function(DTypeConstant): the type known when compiled.
ORRERY_NO_EXEC_CHECK
template <class Function>
ORRERY_HOST_DEVICE_INLINE auto with_dtype(DType dtype, Function&& function) {
  switch (dtype) {
#define ORRERY_DTYPE(type, ...) \
  case DType::type:             \
    return function(DTypeConstant<DType::type>{});
#include "kernels/dtypes.inc"
#undef ORRERY_DTYPE
  }
  return function(DTypeConstant<DType::f32>{});
}

/// with_dtype of the is_element types only; nothing is called for another.
ORRERY_NO_EXEC_CHECK
template <class Function>
ORRERY_HOST_DEVICE_INLINE void with_element(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::f32:
      return function(DTypeConstant<DType::f32>{});
    case DType::f16:
      return function(DTypeConstant<DType::f16>{});
    case DType::bf16:
      return function(DTypeConstant<DType::bf16>{});
    case DType::i8:
      return function(DTypeConstant<DType::i8>{});
    case DType::i16:
      return function(DTypeConstant<DType::i16>{});
    case DType::i32:
      return function(DTypeConstant<DType::i32>{});
    case DType::i64:
      return function(DTypeConstant<DType::i64>{});
    case DType::u8:
      return function(DTypeConstant<DType::u8>{});
    case DType::boolean:
      return function(DTypeConstant<DType::boolean>{});
    default:
      return;
  }
}

/// Bytes of one row of `cols` elements; nothing when cols is negative or no multiple of the block.
constexpr std::optional<size_t> row_bytes(DType dtype, int64_t cols) {
  const DTypeInfo info = dtype_info(dtype);
  if (cols < 0 || cols % info.block_elements != 0) return std::nullopt;
  return static_cast<size_t>(cols / info.block_elements) * static_cast<size_t>(info.block_bytes);
}

/// What a kernel multiplies in, for the machine's limit; its sums are wider.
enum class Arithmetic : uint8_t { f32, bf16, int16, int8, f8 };
inline constexpr size_t kArithmetics = 5;

}  // namespace orrery
