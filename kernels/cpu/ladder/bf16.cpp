// Step 6, cpu.avx512_bf16.tile: operands stay bf16, and one instruction multiplies two of them for each sum.
//   Changed  a register holds 16 pairs of bf16 that are neighbours along k; the instruction multiplies them
//            with 16 pairs and adds both products to 16 sums of float32. 12 x 32 sums in 24 registers.
//   Faster   twice the products for each instruction and for each byte that is loaded and packed. bf16 has
//            float32's exponents, so that nothing overflows, and its products are exact in float32.
//   Limit    the instruction's rate, which on some machines is half that of an FMA, so that nothing is won
//            there; and the copies, which take a fifth of the time now. Units that multiply whole tiles of
//            bf16 (AMX) are the next step.
#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/ladder/tile.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

using Pairs = __m512bh;  // of bf16

constexpr int64_t kRows = kBf16Tile.rows;
static_assert(kBf16Tile.cols == 2 * kLanes);

ORRERY_INLINE Pairs in_all_lanes(const int32_t* pair) {
  return reinterpret_cast<Pairs>(_mm512_set1_epi32(*pair));
}

ORRERY_INLINE Pairs load_pairs(const int32_t* pairs) {
  return reinterpret_cast<Pairs>(_mm512_loadu_si512(pairs));
}

}  // namespace

void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add) {
  const auto* x = static_cast<const int32_t*>(a);
  const auto* y = static_cast<const int32_t*>(b);
  Vec sums[kRows][2];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = set1(0.0F);
  for (int64_t step = 0; step < steps; ++step, x += kRows, y += 2 * kLanes) {
    const Pairs first = load_pairs(y), second = load_pairs(y + kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const Pairs each = in_all_lanes(x + r);
      sums[r][0] = _mm512_dpbf16_ps(sums[r][0], each, first);
      sums[r][1] = _mm512_dpbf16_ps(sums[r][1], each, second);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    float* to = c + r * c_row;
    store(to, add ? load(to) + sums[r][0] : sums[r][0]);
    store(to + kLanes, add ? load(to + kLanes) + sums[r][1] : sums[r][1]);
  }
}

}  // namespace orrery::kernels::ORRERY_ISA
