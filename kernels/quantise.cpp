// Rows of float32 as they are stored. Formats with blocks of 32 elements take their scale from the block's
// range, and their bytes are those of GGUF's reference: the scale is rounded to float16 only when it is
// stored. Those with blocks in blocks are made by a search (cpu/isa/quantise_k.cpp).
#include "kernels/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/quantise_k.h"
#include "kernels/half.h"

namespace orrery::kernels {
namespace {

constexpr int kBlock = 32;

void store_f16(float value, uint8_t* dst) {
  const uint16_t half = f16_from_float(value);
  std::memcpy(dst, &half, sizeof half);
}

/// NaN fails the comparison too.
bool all_within(const float* src, int n, float limit) {
  int32_t outside[4] = {};
  for (int i = 0; i < n; i += 4)
    for (int lane = 0; lane < 4; ++lane) outside[lane] |= !(std::fabs(src[i + lane]) <= limit);
  return (outside[0] | outside[1] | outside[2] | outside[3]) == 0;
}

/// 0 for a scale that is too small to divide by.
float inverse_of(float d) { return std::fabs(d) < std::numeric_limits<float>::min() ? 0.0F : 1.0F / d; }

/// The number of largest magnitude, with its sign; the first of several.
float extreme(const float* src) {
  float largest = 0.0F;
  for (int j = 0; j < kBlock; ++j)
    if (std::fabs(src[j]) > std::fabs(largest)) largest = src[j];
  return largest;
}

struct Range {
  float low, high;
};
Range range_of(const float* src) {
  float low[4], high[4];
  std::copy_n(src, 4, low);
  std::copy_n(src, 4, high);
  for (int j = 4; j < kBlock; j += 4)
    for (int lane = 0; lane < 4; ++lane) {
      low[lane] = std::min(low[lane], src[j + lane]);
      high[lane] = std::max(high[lane], src[j + lane]);
    }
  return {*std::min_element(low, low + 4), *std::max_element(high, high + 4)};
}

/// codes = (src - offset) * inverse + half, cut off and clamped to 0 .. levels; a range beyond float32 gives
/// 0.
void to_codes(const float* src, float offset, float inverse, float half, float levels, int32_t* codes) {
  for (int j = 0; j < kBlock; ++j) {
    const float code = (src[j] - offset) * inverse + half;
    codes[j] = static_cast<int32_t>(code > 0.0F ? (code < levels ? code : levels) : 0.0F);
  }
}

void store_nibbles(const int32_t* codes, uint8_t* dst) {
  for (int j = 0; j < 16; ++j) dst[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[j + 16] & 15) << 4);
}

void store_fifth_bits(const int32_t* codes, uint8_t* dst) {
  uint32_t bits = 0;
  for (int j = 0; j < kBlock; ++j) bits |= static_cast<uint32_t>(codes[j] >> 4) << j;
  std::memcpy(dst, &bits, sizeof bits);
}

/// codes = src * inverse to the nearest, halves away from zero. Less than 2^23 in magnitude.
void to_nearest(const float* src, float inverse, int32_t* codes) {
  for (int j = 0; j < kBlock; ++j) {
    const float x = src[j] * inverse, magnitude = std::fabs(x);
    const auto whole = static_cast<int32_t>(magnitude);
    const int32_t up = whole + static_cast<int32_t>(2.0F * (magnitude - static_cast<float>(whole)));
    codes[j] = x < 0.0F ? -up : up;
  }
}

/// d is such that the extreme is the code 0, which has no counterpart of the other sign.
struct Symmetric {
  int32_t codes[kBlock];
  float d;
};
Symmetric symmetric(const float* src, float levels) {
  const float middle = (levels + 1.0F) / 2.0F;
  Symmetric made;
  made.d = extreme(src) / -middle;
  to_codes(src, 0.0F, inverse_of(made.d), middle + 0.5F, levels, made.codes);
  return made;
}

struct Affine {
  int32_t codes[kBlock];
  float d, min;
};
Affine affine(const float* src, float levels) {
  const Range range = range_of(src);
  Affine made;
  made.d = (range.high - range.low) / levels;
  made.min = range.low;
  to_codes(src, range.low, inverse_of(made.d), 0.5F, levels, made.codes);
  return made;
}

using QuantiseBlock = void (*)(const float* src, uint8_t* block);

/// A block that cannot be stored is zeros with a scale of NaN.
void each_block(DType dtype, int scale_at, QuantiseBlock quantise, const float* src, int64_t cols,
                void* dst) {
  const DTypeInfo info = dtype_info(dtype);
  // Past this limit no super-block's float16 scale reaches, and squares would not be finite.
  const float limit = is_super_block(dtype) ? 0x1p40F : std::numeric_limits<float>::max();
  auto* block = static_cast<uint8_t*>(dst);
  for (int64_t i = 0; i < cols; i += info.block_elements, block += info.block_bytes) {
    if (all_within(src + i, info.block_elements, limit)) {
      quantise(src + i, block);
    } else {
      std::memset(block, 0, static_cast<size_t>(info.block_bytes));
      store_f16(std::numeric_limits<float>::quiet_NaN(), block + scale_at);
    }
  }
}

/// AVX2 or not, the bytes are the same.
const QuantiseKTable& k_table() {
  return this_machine().cpu.features.has(kAvx2) ? avx2::kQuantiseK : baseline::kQuantiseK;
}

template <class T, class Convert>
void narrow(const float* src, int64_t cols, void* dst, Convert convert) {
  auto* bytes = static_cast<uint8_t*>(dst);
  for (int64_t i = 0; i < cols; ++i) {
    const T value = convert(src[i]);
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

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

void quantise_q4_0(const float* src, uint8_t* block) {
  const Symmetric made = symmetric(src, 15.0F);
  store_f16(made.d, block);
  store_nibbles(made.codes, block + 2);
}

void quantise_q4_1(const float* src, uint8_t* block) {
  const Affine made = affine(src, 15.0F);
  store_f16(made.d, block);
  store_f16(made.min, block + 2);
  store_nibbles(made.codes, block + 4);
}

void quantise_q5_0(const float* src, uint8_t* block) {
  const Symmetric made = symmetric(src, 31.0F);
  store_f16(made.d, block);
  store_fifth_bits(made.codes, block + 2);
  store_nibbles(made.codes, block + 6);
}

void quantise_q5_1(const float* src, uint8_t* block) {
  const Affine made = affine(src, 31.0F);
  store_f16(made.d, block);
  store_f16(made.min, block + 2);
  store_fifth_bits(made.codes, block + 4);
  store_nibbles(made.codes, block + 8);
}

void quantise_q8_0(const float* src, uint8_t* block) {
  const Range range = range_of(src);
  const float d = std::max(std::fabs(range.low), std::fabs(range.high)) / 127.0F;
  const float inverse = inverse_of(d);
  store_f16(d, block);
  int32_t codes[kBlock];
  to_nearest(src, inverse, codes);
  for (int j = 0; j < kBlock; ++j) block[2 + j] = static_cast<uint8_t>(codes[j]);
}

}  // namespace

bool can_quantise(DType dtype) {
  return dtype != DType::iq4_nl && dtype != DType::iq4_xs && dtype != DType::mxfp4 && !is_f8(dtype);
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
      return each_block(dtype, 0, quantise_q4_0, src, cols, dst);
    case DType::q4_1:
      return each_block(dtype, 0, quantise_q4_1, src, cols, dst);
    case DType::q5_0:
      return each_block(dtype, 0, quantise_q5_0, src, cols, dst);
    case DType::q5_1:
      return each_block(dtype, 0, quantise_q5_1, src, cols, dst);
    case DType::q8_0:
      return each_block(dtype, 0, quantise_q8_0, src, cols, dst);
    case DType::q2_k:
      return each_block(dtype, 80, k_table().q2_k, src, cols, dst);
    case DType::q3_k:
      return each_block(dtype, 108, k_table().q3_k, src, cols, dst);
    case DType::q4_k:
      return each_block(dtype, 0, k_table().q4_k, src, cols, dst);
    case DType::q5_k:
      return each_block(dtype, 0, k_table().q5_k, src, cols, dst);
    case DType::q6_k:
      return each_block(dtype, 208, k_table().q6_k, src, cols, dst);
    case DType::iq4_nl:
    case DType::iq4_xs:
    case DType::mxfp4:
    case DType::f8_e4m3:
    case DType::f8_e5m2:
      return;
  }
}

}  // namespace orrery::kernels
