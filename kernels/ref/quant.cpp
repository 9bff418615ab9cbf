// Block formats of GGUF (ggml), d and m being float16:
//   Q4_0 32: d, 16 B      w = d (q - 8)          byte j: element j low, j + 16 high nibble
//   Q4_1 32: d, m, 16 B   w = d q + m            the same
//   Q8_0 32: d, 32 i8     w = d q
//   Q4_K 256: d, m, 12 B, 128 B    w = d s_b q - m n_b; 8 sub-blocks of 32 with 6-bit scales s and mins n;
//        bytes 32c..32c+31 hold sub-block 2c in the low and 2c + 1 in the high nibbles
//   Q6_K 256: 128 B low nibbles, 64 B high pairs, 16 i8 scales, d    w = d s_b (q - 32); 16 sub-blocks of 16;
//        per half of 128: element l + 32g takes nibble (g / 2) of low byte l + 32 (g % 2) and bits 2g of high
//        byte l
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/half.h"
#include "kernels/linear.h"

namespace orrery::kernels {
namespace {

float f16_at(const uint8_t* src) {
  uint16_t half;
  std::memcpy(&half, src, sizeof half);
  return float_from_f16(half);
}

void store_f16(float value, uint8_t* dst) {
  const uint16_t half = f16_from_float(value);
  std::memcpy(dst, &half, sizeof half);
}

void dequantise_q4_0(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  for (int j = 0; j < 16; ++j) {
    dst[j] = d * static_cast<float>((block[2 + j] & 15) - 8);
    dst[j + 16] = d * static_cast<float>((block[2 + j] >> 4) - 8);
  }
}

void dequantise_q4_1(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  const float m = f16_at(block + 2);
  for (int j = 0; j < 16; ++j) {
    dst[j] = d * static_cast<float>(block[4 + j] & 15) + m;
    dst[j + 16] = d * static_cast<float>(block[4 + j] >> 4) + m;
  }
}

void dequantise_q8_0(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  for (int j = 0; j < 32; ++j) dst[j] = d * static_cast<float>(static_cast<int8_t>(block[2 + j]));
}

struct ScaleMin {
  int scale, min;
};

/// The 6-bit pair of sub-block b: the first four in the low 6 bits of bytes b and b + 4, the others split.
ScaleMin scale_min_q4_k(const uint8_t* packed, int b) {
  if (b < 4) return {packed[b] & 63, packed[b + 4] & 63};
  return {(packed[b + 4] & 15) | ((packed[b - 4] >> 6) << 4), (packed[b + 4] >> 4) | ((packed[b] >> 6) << 4)};
}

void dequantise_q4_k(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  const float m = f16_at(block + 2);
  for (int b = 0; b < 8; ++b) {
    const ScaleMin sm = scale_min_q4_k(block + 4, b);
    const float scale = d * static_cast<float>(sm.scale);
    const float min = m * static_cast<float>(sm.min);
    const uint8_t* bytes = block + 16 + 32 * (b / 2);
    for (int j = 0; j < 32; ++j) {
      const int q = b % 2 == 0 ? bytes[j] & 15 : bytes[j] >> 4;
      dst[32 * b + j] = scale * static_cast<float>(q) - min;
    }
  }
}

void dequantise_q6_k(const uint8_t* block, float* dst) {
  const float d = f16_at(block + 208);
  for (int half = 0; half < 2; ++half) {
    const uint8_t* low = block + 64 * half;
    const uint8_t* high = block + 128 + 32 * half;
    const uint8_t* scales = block + 192 + 8 * half;
    for (int g = 0; g < 4; ++g) {
      for (int l = 0; l < 32; ++l) {
        const int nibble = (low[l + 32 * (g % 2)] >> (4 * (g / 2))) & 15;
        const int q = (nibble | (((high[l] >> (2 * g)) & 3) << 4)) - 32;
        const int scale = static_cast<int8_t>(scales[2 * g + l / 16]);
        dst[128 * half + 32 * g + l] = d * static_cast<float>(scale) * static_cast<float>(q);
      }
    }
  }
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
  for (int j = 0; j < 32; ++j) largest = std::max(largest, std::fabs(src[j]));
  const float d = largest / 127.0F;
  const float inverse = d == 0.0F ? 0.0F : 1.0F / d;
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
    case DType::i32:
      return widen<int32_t>(src, cols, dst);
    case DType::i64:
      return widen<int64_t>(src, cols, dst);
    case DType::q4_0:
      return each_block<dequantise_q4_0>(dtype, src, cols, dst);
    case DType::q4_1:
      return each_block<dequantise_q4_1>(dtype, src, cols, dst);
    case DType::q8_0:
      return each_block<dequantise_q8_0>(dtype, src, cols, dst);
    case DType::q4_k:
      return each_block<dequantise_q4_k>(dtype, src, cols, dst);
    case DType::q6_k:
      return each_block<dequantise_q6_k>(dtype, src, cols, dst);
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
    case DType::q4_k:
    case DType::q6_k:
      break;  // outside the contract: nothing is written
  }
}

}  // namespace orrery::kernels
