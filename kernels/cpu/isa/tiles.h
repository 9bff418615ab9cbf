// AMX: eight registers of up to 16 rows of 64 bytes, and the product of bf16 matrices that the amx_bf16
// sources share.
//   C = A B or C += A B, tile by tile: 16 rows of A (32 bf16 each) times 16 columns of B, where an element of
//   B is a pair of neighbouring depths: (16 pairs, 16 columns). An instruction adds 32 depths to 16 x 16 sums
//   of float32; denormals count as zero.
//   Every element is summed in the order of depth, 32 at a time, whatever tiles lie around it and however
//   many rows they have.
//   owner: a thread configures its registers before it uses them, and releases them after: what the system
//   saves of a thread grows by 8 KB between the two
// Functions of our own, since g++ 12's take no register from a template and do not say that they read memory.
#pragma once

#include <cstddef>

#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {

constexpr int64_t kTileRows = 16;   // of A and C, columns of B and C, pairs of depths of B
constexpr int64_t kTileDepth = 32;  // elements of a row of A
constexpr int64_t kTileRowBytes = 64;

/// As the instruction reads it: of each register the bytes of a row, and the rows.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Registers of a product of two tiles of rows by two of columns: sums [row tile][column tile] from 0 on, then
// A, then B.
constexpr int kTileSums = 4, kTileRegisters = 8;

/// For products of `row_tiles` tiles of rows, of which the last has `last_rows`.
ORRERY_INLINE TileConfig tile_config(int row_tiles, int64_t last_rows) {
  TileConfig config;
  for (int i = 0; i < kTileRegisters; ++i) {
    config.row_bytes[i] = kTileRowBytes;
    config.rows[i] = kTileRows;
  }
  const int last = row_tiles - 1;
  config.rows[2 * last] = config.rows[2 * last + 1] = config.rows[kTileSums + last] =
      static_cast<uint8_t>(last_rows);
  return config;
}

/// All registers are zero after.
ORRERY_INLINE void configure_tiles(const TileConfig& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
ORRERY_INLINE void release_tiles() { asm volatile("tilerelease"); }

template <int kTile>
ORRERY_INLINE void tile_zero() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
/// `stride`: bytes between rows.
template <int kTile>
ORRERY_INLINE void tile_load(const void* src, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(src), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
ORRERY_INLINE void tile_store(void* dst, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(dst), "r"(stride), "i"(kTile) : "memory");
}
/// sum += a b
template <int kSum, int kA, int kB>
ORRERY_INLINE void tile_multiply() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
}

/// A product of up to two tiles of rows by two of columns. Distances are in bytes.
struct TileProduct {
  const void* a;          // (rows, depth) bf16
  const void* b;          // (depth / 2, columns) pairs of bf16
  float* c;               // (rows, columns)
  int64_t a_row, c_row;   // from row to row
  int64_t b_row, b_tile;  // from pair of depths to pair, from tile of columns to tile
  int64_t b_step;         // to the next kTileDepth
  int64_t depth;          // a multiple of kTileDepth
  bool add;               // C += A B, else C = A B
};

/// body.operator()<row tile, column tile>() for kRowTiles x kColumnTiles.
template <int kRowTiles, int kColumnTiles, int kAt = 0, class Body>
ORRERY_INLINE void each_tile_sum(Body&& body) {
  if constexpr (kAt < kRowTiles * kColumnTiles) {
    body.template operator()<kAt / kColumnTiles, kAt % kColumnTiles>();
    each_tile_sum<kRowTiles, kColumnTiles, kAt + 1>(body);
  }
}

/// `beside()` is called once for every kTileDepth: vectors have time while tiles are multiplied.
template <int kRowTiles, int kColumnTiles, class Beside>
ORRERY_INLINE void multiply_tiles(const TileProduct& p, Beside&& beside) {
  static_assert(kRowTiles <= 2 && kColumnTiles <= 2);
  constexpr int kA = kTileSums, kB = kA + kRowTiles;
  const auto at = [&p](int row, int column) __attribute__((always_inline)) {
    return reinterpret_cast<std::byte*>(p.c) + row * kTileRows * p.c_row + column * kTileRowBytes;
  };
  each_tile_sum<kRowTiles, kColumnTiles>([&]<int kRow, int kColumn>() __attribute__((always_inline)) {
    p.add ? tile_load<2 * kRow + kColumn>(at(kRow, kColumn), p.c_row) : tile_zero<2 * kRow + kColumn>();
  });
  const auto* a = static_cast<const std::byte*>(p.a);
  const auto* b = static_cast<const std::byte*>(p.b);
  for (int64_t k = 0; k < p.depth; k += kTileDepth, a += kTileRowBytes, b += p.b_step) {
    tile_load<kA>(a, p.a_row);
    if constexpr (kRowTiles == 2) tile_load<kA + 1>(a + kTileRows * p.a_row, p.a_row);
    each_tile_sum<kColumnTiles, kRowTiles>([&]<int kColumn, int kRow>() __attribute__((always_inline)) {
      if constexpr (kRow == 0) tile_load<kB + kColumn>(b + kColumn * p.b_tile, p.b_row);
      tile_multiply<2 * kRow + kColumn, kA + kRow, kB + kColumn>();
    });
    beside();
  }
  each_tile_sum<kRowTiles, kColumnTiles>([&]<int kRow, int kColumn>() __attribute__((always_inline)) {
    tile_store<2 * kRow + kColumn>(at(kRow, kColumn), p.c_row);
  });
}

}  // namespace orrery::kernels::ORRERY_ISA
