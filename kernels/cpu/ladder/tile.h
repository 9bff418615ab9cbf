// What the steps from cpu.packed on multiply with: a tile of c whose sums stay in registers. Plain, for the
// sources of one ISA too.
#pragma once

#include <cstdint>

namespace orrery::kernels {

struct LadderTile {
  int64_t rows, cols;
  /// c (rows, cols) = a b, or += where `add` is set; rows of c are `c_row` apart. a (steps / run, rows, run)
  /// and b (steps, cols) are packed without gaps. An element of theirs is a float32, or a pair of bf16 that
  /// lie one after the other along k. Sums begin at zero, in the order of k, and are added to c at the end.
  void (*multiply)(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add);
  int64_t run = 1;  // steps of a row that lie side by side; steps are a multiple
};

namespace avx2 {
void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add);
}
namespace avx512 {
void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add);
}
namespace avx512_bf16 {
void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add);
}
namespace amx_bf16 {
void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add);
}
static constexpr LadderTile kAvx2Tile{6, 16, avx2::ladder_multiply};
static constexpr LadderTile kAvx512Tile{14, 32, avx512::ladder_multiply};
static constexpr LadderTile kBf16Tile{12, 32, avx512_bf16::ladder_multiply};
static constexpr LadderTile kAmxTile{32, 32, amx_bf16::ladder_multiply, 16};

}  // namespace orrery::kernels
