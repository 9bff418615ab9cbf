// Loops that show what one core can do at most, built once per ISA: reading, and multiplying in each
// arithmetic that kernels use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"

namespace orrery::kernels {

struct SpeedTable {
  /// A number that depends on all words; `count` is a multiple of 32.
  uint64_t (*sum_words)(const uint64_t* data, size_t count);
  /// `rounds` rounds of multiply-adds; the result depends on them. Null: this ISA has none.
  int (*multiply[kArithmetics])(int64_t rounds);  // by Arithmetic
  double flops[kArithmetics];                     // of one round
};

namespace avx2 {
extern const SpeedTable kSpeed;
}
namespace avx2_vnni {
extern const SpeedTable kSpeed;
}
namespace avx512 {
extern const SpeedTable kSpeed;
}
namespace avx512_vnni {
extern const SpeedTable kSpeed;
}
namespace avx512_bf16 {
extern const SpeedTable kSpeed;
}
namespace amx_bf16 {
extern const SpeedTable kSpeed;
}

}  // namespace orrery::kernels
