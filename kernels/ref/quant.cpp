// Rows of any stored type to float32 (blocks: quant_blocks.h), and float32 to those that are not made by a
// search over scales.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linear.h"
#include "kernels/ref/quant_blocks.h"

namespace orrery::kernels {
namespace {

void store_f16(float value, uint8_t* dst) {
  const uint16_t half = f16_from_float(value);
  std::memcpy(dst, &half, sizeof half);
}

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

// The quantisers follow GGUF's reference: the scale is rounded to float16 only when stored.
void quantise_q4_0(const float* src, uint8_t* block) {
  float largest = 0.0F;  // with its sign: it becomes -8
  for (int j = 0; j < 32; ++j) {
    if (std::fabs(src[j]) > std::fabs(largest)) largest = src[j];
  }
  const float d = largest / -8.0F;
  const float inverse = d == 0.0F ? 0.0F : 1.0F / d;
  store_f16(d, block);
  const auto level = [&](float x) {
    return static_cast<uint8_t>(std::clamp(x * inverse + 8.5F, 0.0F, 15.0F));
  };
  for (int j = 0; j < 16; ++j) block[2 + j] = static_cast<uint8_t>(level(src[j]) | (level(src[j + 16]) << 4));
}

void quantise_q4_1(const float* src, uint8_t* block) {
  const auto [low, high] = std::minmax_element(src, src + 32);
  const float min = *low;
  const float d = (*high - min) / 15.0F;
  const float inverse = d == 0.0F ? 0.0F : 1.0F / d;
  store_f16(d, block);
  store_f16(min, block + 2);
  const auto level = [&](float x) {
    return static_cast<uint8_t>(std::clamp((x - min) * inverse + 0.5F, 0.0F, 15.0F));
  };
  for (int j = 0; j < 16; ++j) block[4 + j] = static_cast<uint8_t>(level(src[j]) | (level(src[j + 16]) << 4));
}

void quantise_q8_0(const float* src, uint8_t* block) {
  float largest = 0.0F;
  bool finite = true;
  for (int j = 0; j < 32; ++j) {
    largest = std::max(largest, std::fabs(src[j]));
    finite &= std::isfinite(src[j]);
  }
  if (!finite) {  // the whole block shows it
    std::memset(block, 0, 34);
    return store_f16(std::numeric_limits<float>::quiet_NaN(), block);
  }
  const float d = largest / 127.0F;
  const float inverse = d < std::numeric_limits<float>::min() ? 0.0F : 1.0F / d;
  store_f16(d, block);
  for (int j = 0; j < 32; ++j) {
    const float level = std::clamp(std::round(src[j] * inverse), -127.0F, 127.0F);
    block[2 + j] = static_cast<uint8_t>(static_cast<int8_t>(level));
  }
}

template <void (*block)(const float*, uint8_t*)>
void each_block_quantised(DType dtype, const float* src, int64_t cols, void* dst) {
  const DTypeInfo info = dtype_info(dtype);
  auto* bytes = static_cast<uint8_t*>(dst);
  for (int64_t i = 0; i < cols / info.block_elements; ++i) {
    block(src + i * info.block_elements, bytes + i * info.block_bytes);
  }
}

template <class T, class Convert>
void narrow(const float* src, int64_t cols, void* dst, Convert convert) {
  auto* bytes = static_cast<uint8_t*>(dst);
  for (int64_t i = 0; i < cols; ++i) {
    const T value = convert(src[i]);
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

/// Rounded and clamped, so that no value is outside the type; NaN gives 0.
template <class T>
T to_integer(float value) {
  if (std::isnan(value)) return 0;
  constexpr auto low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto high = static_cast<double>(std::numeric_limits<T>::max());
  const double rounded = std::nearbyint(static_cast<double>(value));
  if (rounded <= low) return std::numeric_limits<T>::min();
  if (rounded >= high) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
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

void quantise_row(DType dtype, const float* src, int64_t cols, void* dst) {
  switch (dtype) {
    case DType::f32:
      std::memcpy(dst, src, static_cast<size_t>(cols) * sizeof(float));
      return;
    case DType::f16:
      return narrow<uint16_t>(src, cols, dst, f16_from_float);
    case DType::bf16:
      return narrow<uint16_t>(src, cols, dst, bf16_from_float);
    case DType::i8:
      return narrow<int8_t>(src, cols, dst, to_integer<int8_t>);
    case DType::i16:
      return narrow<int16_t>(src, cols, dst, to_integer<int16_t>);
    case DType::u8:
      return narrow<uint8_t>(src, cols, dst, to_integer<uint8_t>);
    case DType::boolean:
      return narrow<uint8_t>(src, cols, dst, [](float value) { return uint8_t{value != 0.0F}; });
    case DType::i32:
      return narrow<int32_t>(src, cols, dst, to_integer<int32_t>);
    case DType::i64:
      return narrow<int64_t>(src, cols, dst, to_integer<int64_t>);
    case DType::q4_0:
      return each_block_quantised<quantise_q4_0>(dtype, src, cols, dst);
    case DType::q4_1:
      return each_block_quantised<quantise_q4_1>(dtype, src, cols, dst);
    case DType::q8_0:
      return each_block_quantised<quantise_q8_0>(dtype, src, cols, dst);
    default:
      break;  // outside the contract: nothing is written
  }
}

}  // namespace orrery::kernels
