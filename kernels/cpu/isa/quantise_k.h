// What quantise_k.cpp offers: blocks of 256 float32 as the formats with blocks in blocks
// (ref/quant_blocks.h). The bytes are the same whichever ISA makes them.
#pragma once

#include <cstdint>

namespace orrery::kernels {

/// src: 256 finite numbers whose squares are so too.
struct QuantiseKTable {
  void (*q2_k)(const float* src, uint8_t* block);
  void (*q3_k)(const float* src, uint8_t* block);
  void (*q4_k)(const float* src, uint8_t* block);
  void (*q5_k)(const float* src, uint8_t* block);
  void (*q6_k)(const float* src, uint8_t* block);
};

namespace baseline {
extern const QuantiseKTable kQuantiseK;
}
namespace avx2 {
extern const QuantiseKTable kQuantiseK;
}

}  // namespace orrery::kernels
