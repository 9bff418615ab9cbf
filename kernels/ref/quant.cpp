// Rows of any stored type to float32 (blocks: quant_blocks.h).
#include "kernels/linear.h"
#include "kernels/ref/quant_blocks.h"

namespace orrery::kernels {
namespace {

template <class T>
void widen(const void* src, int64_t cols, float* dst) {
  const auto* bytes = static_cast<const uint8_t*>(src);
  for (int64_t i = 0; i < cols; ++i) {
    T value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    dst[i] = static_cast<float>(value);
  }
}

template <float (*convert)(uint16_t)>
void widen_half(const void* src, int64_t cols, float* dst) {
  const auto* bytes = static_cast<const uint8_t*>(src);
  for (int64_t i = 0; i < cols; ++i) {
    uint16_t half;
    std::memcpy(&half, bytes + 2 * i, sizeof half);
    dst[i] = convert(half);
  }
}

template <float (*convert)(uint8_t)>
void widen_f8(const void* src, int64_t cols, float* dst) {
  const auto* bytes = static_cast<const uint8_t*>(src);
  for (int64_t i = 0; i < cols; ++i) dst[i] = convert(bytes[i]);
}

template <void (*block)(const uint8_t*, float*)>
void each_block(DType dtype, const void* src, int64_t cols, float* dst) {
  const DTypeInfo info = dtype_info(dtype);
  const auto* bytes = static_cast<const uint8_t*>(src);
  for (int64_t i = 0; i < cols / info.block_elements; ++i) {
    block(bytes + i * info.block_bytes, dst + i * info.block_elements);
  }
}

}  // namespace

void dequantise_row(DType dtype, const void* src, int64_t cols, float* dst) {
  switch (dtype) {
    case DType::f32:
      return widen<float>(src, cols, dst);
    case DType::f16:
      return widen_half<float_from_f16>(src, cols, dst);
    case DType::bf16:
      return widen_half<float_from_bf16>(src, cols, dst);
    case DType::i8:
      return widen<int8_t>(src, cols, dst);
    case DType::i16:
      return widen<int16_t>(src, cols, dst);
    case DType::u8:
    case DType::boolean:
      return widen<uint8_t>(src, cols, dst);
    case DType::i32:
      return widen<int32_t>(src, cols, dst);
    case DType::i64:
      return widen<int64_t>(src, cols, dst);
    case DType::q4_0:
      return each_block<ref::dequantise_q4_0>(dtype, src, cols, dst);
    case DType::q4_1:
      return each_block<ref::dequantise_q4_1>(dtype, src, cols, dst);
    case DType::q8_0:
      return each_block<ref::dequantise_q8_0>(dtype, src, cols, dst);
    case DType::q4_k:
      return each_block<ref::dequantise_q4_k>(dtype, src, cols, dst);
    case DType::q6_k:
      return each_block<ref::dequantise_q6_k>(dtype, src, cols, dst);
    case DType::q5_0:
      return each_block<ref::dequantise_q5_0>(dtype, src, cols, dst);
    case DType::q5_1:
      return each_block<ref::dequantise_q5_1>(dtype, src, cols, dst);
    case DType::q2_k:
      return each_block<ref::dequantise_q2_k>(dtype, src, cols, dst);
    case DType::q3_k:
      return each_block<ref::dequantise_q3_k>(dtype, src, cols, dst);
    case DType::q5_k:
      return each_block<ref::dequantise_q5_k>(dtype, src, cols, dst);
    case DType::iq4_nl:
      return each_block<ref::dequantise_iq4_nl>(dtype, src, cols, dst);
    case DType::iq4_xs:
      return each_block<ref::dequantise_iq4_xs>(dtype, src, cols, dst);
    case DType::mxfp4:
      return each_block<ref::dequantise_mxfp4>(dtype, src, cols, dst);
    case DType::f8_e4m3:
      return widen_f8<float_from_f8_e4m3>(src, cols, dst);
    case DType::f8_e5m2:
      return widen_f8<float_from_f8_e5m2>(src, cols, dst);
  }
}

}  // namespace orrery::kernels
