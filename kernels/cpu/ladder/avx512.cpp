// Step 5, cpu.avx512.tile: the same tile in the 32 registers of AVX-512.
//   Changed  14 x 32 sums in 28 registers of sixteen numbers, two for a row of b and one for a number of a.
//   Faster   an FMA makes sixteen products, and a step 28 FMAs for 16 loads: of what is loaded each number of
//            a serves 32 products, each of b 14. Where the units are 512 bits wide that is twice the rate.
//   Limit    the FMAs again: where numbers lie in L1 the tile is at their rate, and the copies before it take
//            a sixth of the whole. Twice as many numbers of 16 bits would fit into a register.
#include "kernels/cpu/ladder/register_tile.h"

namespace orrery::kernels::ORRERY_ISA {

static_assert(kAvx512Tile.cols == 2 * kLanes);

void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add) {
  register_tile<kAvx512Tile.rows, 2>(a, b, steps, c, c_row, add);
}

}  // namespace orrery::kernels::ORRERY_ISA
