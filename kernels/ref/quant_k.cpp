// Formats with blocks of 256 elements as float32 (quant_blocks.h).
#include "kernels/ref/quant_blocks.h"

namespace orrery::kernels::ref {
namespace {

struct ScaleMin {
  int scale, min;
};

/// The 6-bit pair of sub-block b: the first four in the low 6 bits of bytes b and b + 4, the others split.
ScaleMin scale_min(const uint8_t* packed, int b) {
  if (b < 4) return {packed[b] & 63, packed[b + 4] & 63};
  return {(packed[b + 4] & 15) | ((packed[b - 4] >> 6) << 4), (packed[b + 4] >> 4) | ((packed[b] >> 6) << 4)};
}

/// The 6-bit scale of sub-block b of Q3_K: low halves in 8 bytes of nibbles, high pairs in 4 bytes.
int scale_q3_k(const uint8_t* packed, int b) {
  const int low = (packed[b % 8] >> (4 * (b / 8))) & 15;
  return low | ((packed[8 + b % 4] >> (2 * (b / 4))) & 3) << 4;
}

/// Two bits of element `at` of 256: four groups of 32 to a half's 32 bytes.
int pair_at(const uint8_t* quants, int at) {
  return (quants[at / 128 * 32 + at % 32] >> (at % 128 / 32 * 2)) & 3;
}

}  // namespace

void dequantise_q2_k(const uint8_t* block, float* dst) {
  const float d = f16_at(block + 80);
  const float m = f16_at(block + 82);
  for (int at = 0; at < 256; ++at) {
    const float scale = d * static_cast<float>(block[at / 16] & 15);
    const float min = m * static_cast<float>(block[at / 16] >> 4);
    dst[at] = scale * static_cast<float>(pair_at(block + 16, at)) - min;
  }
}

void dequantise_q3_k(const uint8_t* block, float* dst) {
  const float d = f16_at(block + 108);
  for (int at = 0; at < 256; ++at) {
    const int q = pair_at(block + 32, at) | ((block[at % 32] >> (at / 32)) & 1) << 2;
    const float scale = d * static_cast<float>(scale_q3_k(block + 96, at / 16) - 32);
    dst[at] = scale * static_cast<float>(q - 4);
  }
}

void dequantise_q4_k(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  const float m = f16_at(block + 2);
  for (int b = 0; b < 8; ++b) {
    const ScaleMin sm = scale_min(block + 4, b);
    const float scale = d * static_cast<float>(sm.scale);
    const float min = m * static_cast<float>(sm.min);
    const uint8_t* bytes = block + 16 + 32 * (b / 2);
    for (int j = 0; j < 32; ++j) {
      const int q = b % 2 == 0 ? bytes[j] & 15 : bytes[j] >> 4;
      dst[32 * b + j] = scale * static_cast<float>(q) - min;
    }
  }
}

void dequantise_q5_k(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  const float m = f16_at(block + 2);
  for (int b = 0; b < 8; ++b) {
    const ScaleMin sm = scale_min(block + 4, b);
    const float scale = d * static_cast<float>(sm.scale);
    const float min = m * static_cast<float>(sm.min);
    const uint8_t* high = block + 16;
    const uint8_t* bytes = block + 48 + 32 * (b / 2);
    for (int j = 0; j < 32; ++j) {
      const int nibble = b % 2 == 0 ? bytes[j] & 15 : bytes[j] >> 4;
      const int q = nibble | ((high[j] >> b) & 1) << 4;
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

void dequantise_iq4_xs(const uint8_t* block, float* dst) {
  const float d = f16_at(block);
  for (int b = 0; b < 8; ++b) {
    const int low = (block[4 + b / 2] >> (4 * (b % 2))) & 15;
    const int high = (block[2 + b / 4] >> (2 * (b % 4))) & 3;
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    const uint8_t* nibbles = block + 8 + 16 * b;
    for (int j = 0; j < 16; ++j) {
      dst[32 * b + j] = scale * static_cast<float>(iq4_value(nibbles[j] & 15));
      dst[32 * b + j + 16] = scale * static_cast<float>(iq4_value(nibbles[j] >> 4));
    }
  }
}

}  // namespace orrery::kernels::ref
