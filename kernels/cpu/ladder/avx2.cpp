// Step 4, cpu.avx2.tile: a tile as large as the registers of AVX2 hold.
//   Changed  6 x 16 sums in 12 of the 16 registers of eight numbers, two for a row of b and one for a number
//            of a; a product and its sum are one instruction.
//   Faster   an FMA makes eight products where step 3 needs four instructions. An FMA takes about four cycles
//            and two begin in each, so that eight sums must be under way: 12 are. A step has 8 loads beside
//            its 12 FMAs, as many as the machine makes at the same time.
//   Limit    the FMAs: the two units are busy nearly all of the time. More products need longer vectors.
#include "kernels/cpu/ladder/register_tile.h"

namespace orrery::kernels::ORRERY_ISA {

static_assert(kAvx2Tile.cols == 2 * kLanes);

void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add) {
  register_tile<kAvx2Tile.rows, 2>(a, b, steps, c, c_row, add);
}

}  // namespace orrery::kernels::ORRERY_ISA
