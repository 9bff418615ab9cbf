// Step 7, cpu.amx_bf16.tile: a unit of its own multiplies tiles of 16 rows.
//   Changed  registers hold 16 rows of 64 bytes (AMX). One instruction multiplies 16 rows of 32 bf16 with 16
//            columns of pairs and adds to 16 x 16 sums of float32. Four of the eight registers hold 32 x 32
//            sums, two hold rows of a, two columns of b; a is packed so that 32 numbers of a row lie side by
//            side.
//   Faster   an instruction makes 8,192 products where one of step 6 makes 32. Each register that is loaded
//            serves two of them.
//   Limit    operands from L2 and the copies before: a pass over both matrices that was small beside the
//            products no longer is. Sums have to go by way of memory to be added to c, 4 KB for each tile.
#include "kernels/cpu/isa/tiles.h"
#include "kernels/cpu/ladder/tile.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int64_t kSide = 2 * kTileRows;
static_assert(kAmxTile.rows == kSide && kAmxTile.cols == kSide && kAmxTile.run == kTileRows);
constexpr int64_t kStepBytes = kSide * sizeof(float);  // of b
constexpr int64_t kRunBytes = kSide * kTileRowBytes;   // of a
constexpr int64_t kSumBytes = kSide * sizeof(float);   // a row of sums
static_assert(kRunBytes == kTileRows * kStepBytes);    // of b too

}  // namespace

void ladder_multiply(const void* a, const void* b, int64_t steps, float* c, int64_t c_row, bool add) {
  const auto* rows = static_cast<const std::byte*>(a);
  const auto* cols = static_cast<const std::byte*>(b);
  alignas(64) float sums[kSide * kSide];
  configure_tiles(tile_config(2, kTileRows));  // all sums are zero after
  for (int64_t step = 0; step < steps; step += kTileRows, rows += kRunBytes, cols += kRunBytes) {
    tile_load<4>(rows, kTileRowBytes);
    tile_load<5>(rows + kTileRows * kTileRowBytes, kTileRowBytes);
    tile_load<6>(cols, kStepBytes);
    tile_load<7>(cols + kTileRowBytes, kStepBytes);
    tile_multiply<0, 4, 6>();
    tile_multiply<1, 4, 7>();
    tile_multiply<2, 5, 6>();
    tile_multiply<3, 5, 7>();
  }
  tile_store<0>(sums, kSumBytes);
  tile_store<1>(sums + kTileRows, kSumBytes);
  tile_store<2>(sums + kTileRows * kSide, kSumBytes);
  tile_store<3>(sums + kTileRows * kSide + kTileRows, kSumBytes);
  release_tiles();
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t j = 0; j < kSide; j += kLanes) {
      const Vec sum = load(sums + r * kSide + j);
      float* to = c + r * c_row + j;
      store(to, add ? load(to) + sum : sum);
    }
}

}  // namespace orrery::kernels::ORRERY_ISA
