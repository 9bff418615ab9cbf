// The products of attention in bf16, of pairs of neighbouring depths: by vdpbf16ps, or by tiles (AMX), which
// want whole ones: rows by 16, depths by 32, zeros where nothing is.
#pragma once

#include "kernels/cpu/isa/attention_product.h"
#include "kernels/cpu/isa/attention_softmax.h"
#if defined(__AMX_BF16__)
#include "kernels/cpu/isa/tiles.h"
#endif

namespace orrery::kernels::ORRERY_ISA {

using PairProduct = Product<Bf16Pairs>;

/// Pairs that a row of `dim` elements has, in whole vectors.
ORRERY_INLINE int64_t padded_pairs(int64_t dim) { return (dim + 31) / 32 * 16; }

#if defined(__AMX_BF16__)

ORRERY_INLINE int64_t filled_rows(int64_t rows) { return (rows + kTileRows - 1) / kTileRows * kTileRows; }
ORRERY_INLINE int64_t filled_depth(int64_t n) { return (n + kTileDepth - 1) / kTileDepth * kTileDepth; }

template <int kRowTiles>
void multiply_row_tiles(TileProduct p, int64_t columns) {
  const auto next = [&](int tiles) {
    p.b = static_cast<const uint32_t*>(p.b) + tiles * kLanes;
    p.c += tiles * kLanes;
    columns -= tiles * kLanes;
  };
  for (; columns >= 2 * kLanes; next(2)) multiply_tiles<kRowTiles, 2>(p, [] {});
  if (columns > 0) multiply_tiles<kRowTiles, 1>(p, [] {});
}

/// columns is a multiple of kLanes.
inline void multiply_pairs(const PairProduct& p, int64_t rows, int64_t columns) {
  constexpr int64_t kBytes = sizeof(float);
  for (int64_t r = 0; r < rows; r += 2 * kTileRows) {
    const TileProduct tiles{.a = p.a + r * p.lda,
                            .b = p.b,
                            .c = p.c + r * p.ldc,
                            .a_row = kBytes * p.lda,
                            .c_row = kBytes * p.ldc,
                            .b_row = kBytes * p.ldb,
                            .b_tile = kTileRowBytes,
                            .b_step = kBytes * kTileRows * p.ldb,
                            .depth = filled_depth(2 * p.depth),
                            .add = p.add};
    rows - r > kTileRows ? multiply_row_tiles<2>(tiles, columns) : multiply_row_tiles<1>(tiles, columns);
  }
}

/// Around the products of a thread.
class PairProducts {
 public:
  PairProducts() { configure_tiles(tile_config(2, kTileRows)); }
  ~PairProducts() { release_tiles(); }
  PairProducts(const PairProducts&) = delete;
  PairProducts& operator=(const PairProducts&) = delete;
};

#else

ORRERY_INLINE int64_t filled_rows(int64_t rows) { return rows; }
ORRERY_INLINE int64_t filled_depth(int64_t n) { return n; }

inline void multiply_pairs(const PairProduct& p, int64_t rows, int64_t columns) {
  multiply(p, rows, columns);
}

struct PairProducts {};

#endif

}  // namespace orrery::kernels::ORRERY_ISA
