// Element types as stored in memory and in files. Block formats follow the GGUF specification (ggml), F8
// types the OCP 8-bit floating point specification (E4M3 has no infinity).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  i8,
  i32,
  i64,
  q4_0,
  q4_1,
  q8_0,
  q4_k,
  q6_k,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q5_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  f8_e4m3,
  f8_e5m2
};
inline constexpr DType kLastDType = DType::f8_e5m2;

/// A row of `cols` elements is stored as cols / block_elements blocks of block_bytes each.
struct DTypeInfo {
  std::string_view name;  // as the field writes it: "f32", "Q4_K"
  int block_elements;
  int block_bytes;
};

constexpr DTypeInfo dtype_info(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return {"f32", 1, 4};
    case DType::f16:
      return {"f16", 1, 2};
    case DType::bf16:
      return {"bf16", 1, 2};
    case DType::i8:
      return {"i8", 1, 1};
    case DType::i32:
      return {"i32", 1, 4};
    case DType::i64:
      return {"i64", 1, 8};
    case DType::q4_0:
      return {"Q4_0", 32, 18};
    case DType::q4_1:
      return {"Q4_1", 32, 20};
    case DType::q8_0:
      return {"Q8_0", 32, 34};
    case DType::q4_k:
      return {"Q4_K", 256, 144};
    case DType::q6_k:
      return {"Q6_K", 256, 210};
    case DType::q5_0:
      return {"Q5_0", 32, 22};
    case DType::q5_1:
      return {"Q5_1", 32, 24};
    case DType::q2_k:
      return {"Q2_K", 256, 84};
    case DType::q3_k:
      return {"Q3_K", 256, 110};
    case DType::q5_k:
      return {"Q5_K", 256, 176};
    case DType::iq4_nl:
      return {"IQ4_NL", 32, 18};
    case DType::iq4_xs:
      return {"IQ4_XS", 256, 136};
    case DType::mxfp4:
      return {"MXFP4", 32, 17};
    case DType::f8_e4m3:
      return {"F8_E4M3", 1, 1};
    case DType::f8_e5m2:
      return {"F8_E5M2", 1, 1};
  }
  return {"?", 1, 1};
}

constexpr std::string_view name_of(DType dtype) { return dtype_info(dtype).name; }
constexpr bool is_quantised(DType dtype) { return dtype_info(dtype).block_elements > 1; }
constexpr bool is_f8(DType dtype) { return dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2; }

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
