// Formats with blocks of 32 elements as float32 (quant_blocks.h).
#include "kernels/ref/quant_blocks.h"

namespace orrery::kernels::ref {
namespace {

/// q of element j: a nibble and, as its fifth bit, bit j of the word at `high`.
int five_bits(const uint8_t* high, const uint8_t* nibbles, int j) {
  const int nibble = j < 16 ? nibbles[j] & 15 : nibbles[j - 16] >> 4;
  return nibble | ((high[j / 8] >> (j % 8)) & 1) << 4;
}

template <int (*value)(int)>
void from_codes(float scale, const uint8_t* nibbles, float* dst) {
  for (int j = 0; j < 16; ++j) {
    dst[j] = scale * static_cast<float>(value(nibbles[j] & 15));
    dst[j + 16] = scale * static_cast<float>(value(nibbles[j] >> 4));
  }
}

}  // namespace

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

void dequantise_q5_0(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  for (int j = 0; j < 32; ++j) dst[j] = d * static_cast<float>(five_bits(block + 2, block + 6, j) - 16);
}

void dequantise_q5_1(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  const float m = f16_at(block + 2);
  for (int j = 0; j < 32; ++j) dst[j] = d * static_cast<float>(five_bits(block + 4, block + 8, j)) + m;
}

void dequantise_q8_0(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  for (int j = 0; j < 32; ++j) dst[j] = d * static_cast<float>(static_cast<int8_t>(block[2 + j]));
}

void dequantise_iq4_nl(const uint8_t* block, float* dst) {
  from_codes<iq4_value>(f16_at(block), block + 2, dst);
}

void dequantise_mxfp4(const uint8_t* block, float* dst) {
  from_codes<mxfp4_value>(float_from_bits(mxfp4_scale_bits(block[0])), block + 1, dst);
}

}  // namespace orrery::kernels::ref
