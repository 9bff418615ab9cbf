// One stored block of each format as float32, by the formulas of ggml. d and m are float16; bytes in the
// order given; "nibbles": byte j holds element j in its low and element j + 16 in its high half.
//   Q4_0   32: d, 16 B nibbles             w = d (q - 8)
//   Q4_1   32: d, m, 16 B nibbles          w = d q + m
//   Q5_0   32: d, 4 B fifth bits, 16 B     w = d (q - 16); bit j of the little-endian word: element j
//   Q5_1   32: d, m, 4 B, 16 B             w = d q + m
//   Q8_0   32: d, 32 i8                    w = d q
//   IQ4_NL 32: d, 16 B nibbles             w = d iq4_value(q)
//   MXFP4  32: e, 16 B nibbles             w = 2^(e - 128) mxfp4_value(q)
//   Q2_K  256: 16 B of 4-bit scale (low) and min, 64 B, d, m    w = d s_b q - m n_b; 16 sub-blocks of 16
//   Q3_K  256: 32 B third bits, 64 B, 12 B of 6-bit scales, d   w = d (s_b - 32) (q - 4); likewise
//        both: per half of 128, element l + 32g takes bits 2g of byte l; third bits: bit 4 half + g of byte l
//   Q4_K  256: d, m, 12 B of 6-bit scales and mins, 128 B       w = d s_b q - m n_b; 8 sub-blocks of 32;
//        bytes 32c..32c+31 hold sub-block 2c in the low and 2c + 1 in the high nibbles
//   Q5_K  256: d, m, 12 B, 32 B fifth bits, 128 B               the same; fifth bit of sub-block b: bit b of
//   byte j Q6_K  256: 128 B low nibbles, 64 B high pairs, 16 i8 scales, d    w = d s_b (q - 32); 16
//   sub-blocks of 16;
//        per half of 128: element l + 32g takes nibble (g / 2) of low byte l + 32 (g % 2) and bits 2g of high
//        byte l
//   IQ4_XS 256: d, 2 B high pairs and 4 B low nibbles of 8 scales, 128 B    w = d (s_b - 32) iq4_value(q);
//        8 sub-blocks of 32, each 16 B nibbles
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/half.h"
#include "kernels/quant_values.h"

namespace orrery::kernels::ref {

inline float f16_at(const uint8_t* src) {
  uint16_t half;
  std::memcpy(&half, src, sizeof half);
  return float_from_f16(half);
}

// quant_blocks.cpp: 32 elements
void dequantise_q4_0(const uint8_t* block, float* dst);
void dequantise_q4_1(const uint8_t* block, float* dst);
void dequantise_q5_0(const uint8_t* block, float* dst);
void dequantise_q5_1(const uint8_t* block, float* dst);
void dequantise_q8_0(const uint8_t* block, float* dst);
void dequantise_iq4_nl(const uint8_t* block, float* dst);
void dequantise_mxfp4(const uint8_t* block, float* dst);

// quant_k.cpp: 256 elements
void dequantise_q2_k(const uint8_t* block, float* dst);
void dequantise_q3_k(const uint8_t* block, float* dst);
void dequantise_q4_k(const uint8_t* block, float* dst);
void dequantise_q5_k(const uint8_t* block, float* dst);
void dequantise_q6_k(const uint8_t* block, float* dst);
void dequantise_iq4_xs(const uint8_t* block, float* dst);

}  // namespace orrery::kernels::ref
