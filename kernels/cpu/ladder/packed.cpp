// Step 3, cpu.packed: operands are copied before they are multiplied, and all threads of the team work.
//   Changed  b is copied into panels, a into blocks, in the order in which they will be read (panels.h). A
//            tile of 4 x 8 sums stays in variables over 256 steps of k.
//   Faster   the copy costs one pass and is read many times, always from end to end: no page and no cache set
//            is met too often. A step loads 12 numbers for 32 products, and sums are stored once in 256
//            steps. Lengths that the compiler knows let it make four products at a time (SSE2, which every
//            machine has), and blocks of c need nothing of each other, so that each thread takes some.
//   Limit    16 registers of four numbers, and a multiplication and an addition for each product: the machine
//            has vectors four times as long, and instructions that do both.
#include "kernels/cpu/ladder/panels.h"

namespace orrery::kernels::ladder {
namespace {

constexpr int kRows = 4, kCols = 8;

void multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add) {
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  float sums[kRows][kCols] = {};
  for (int64_t step = 0; step < steps; ++step, x += kRows, y += kCols) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int j = 0; j < kCols; ++j) sums[r][j] += x[r] * y[j];
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) c[r * c_row + j] = add ? c[r * c_row + j] + sums[r][j] : sums[r][j];
}

constexpr LadderTile kTile{kRows, kCols, multiply};

}  // namespace

Row<MatmulLadder> packed_row() {
  return {.name = "cpu.packed",
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run_floats<kTile>,
          .workspace = float_workspace<kTile>,
          .source = "cpu/ladder/packed.cpp",
          .block = {kRows, kCols}};
}

}  // namespace orrery::kernels::ladder
