// What sampling computes of single logits, and the draw's random number (sample.h, philox.h).
//   key: order-preserving 32-bit form of a clean logit (clean_logit); 0: not there
//   code: (~key, id) as one 64-bit word: ascending codes are the order of preference, ties by id
//   mass: e^((logit - largest) / temperature) in fixed point, so that sums do not depend on their order
#pragma once

#include <cstdint>

#include "kernels/philox.h"
#include "kernels/sample.h"

namespace orrery::kernels::cuda {

__device__ inline uint32_t key_of(float clean) {
  if (clean == -INFINITY) return 0;
  const uint32_t bits = __float_as_uint(clean);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

__device__ inline float logit_of(uint32_t key) {
  return __uint_as_float((key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key);
}

__device__ inline uint64_t code_of(uint32_t key, int64_t id) {
  return static_cast<uint64_t>(~key) << 32 | static_cast<uint32_t>(id);
}
__device__ inline uint32_t key_in(uint64_t code) { return ~static_cast<uint32_t>(code >> 32); }
__device__ inline int32_t id_in(uint64_t code) { return static_cast<int32_t>(code); }

struct Softmax {
  float largest, inverse;  // of the temperature
  float unit;              // what one is in fixed point: a power of two

  __device__ float weight(uint32_t key) const { return expf((logit_of(key) - largest) * inverse); }
  __device__ uint64_t mass(uint32_t key) const { return __float2ull_rz(weight(key) * unit); }
  __device__ uint64_t one() const { return __float2ull_rz(unit); }
};

/// As large as the sum over the vocabulary allows in 63 bits; 2^45 is finer than float32 weights need.
__device__ inline float fixed_unit(int64_t vocabulary) {
  const int bits = 64 - __clzll(vocabulary);
  return exp2f(static_cast<float>(min(45, 62 - bits)));
}

/// philox_uniform of philox.h.
__device__ inline double draw_uniform(uint64_t seed, uint64_t position) {
  uint32_t words[4] = {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), 0, 0};
  philox_rounds(words, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  const uint64_t bits = (static_cast<uint64_t>(words[1]) << 32 | words[0]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace orrery::kernels::cuda
