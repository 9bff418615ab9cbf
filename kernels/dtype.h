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
constexpr bool is_f8(DType dtype) { return dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2; }

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

/// Bytes of one row of `cols` elements; nothing when cols is negative or no multiple of the block.
constexpr std::optional<size_t> row_bytes(DType dtype, int64_t cols) {
  const DTypeInfo info = dtype_info(dtype);
  if (cols < 0 || cols % info.block_elements != 0) return std::nullopt;
  return static_cast<size_t>(cols / info.block_elements) * static_cast<size_t>(info.block_bytes);
}

/// What a kernel multiplies in, for the machine's limit; its sums are wider.
enum class Arithmetic : uint8_t { f32, bf16, int16, int8 };
inline constexpr size_t kArithmetics = 4;

}  // namespace orrery
