// Attention over whole tensors in float32, of any stored type: for each tile of 64 keys
//   S = (scale Q) K^T, bent, biased and masked      P = e^(S - m')      O = O e^(m - m') + keep P V
//   layouts and order of sums: attention_tile.h; of few rows keys and values are read where they lie
//   a call is one thread's work; scratch and state belong to it
//   preconditions: up to kUnitRows rows, keys and values of f32, f16 or bf16
//   traffic: 2 keys * head_dim elements a unit, bias and mask once    arithmetic: 4 rows * keys * head_dim
#include "kernels/cpu/isa/flash_attention.h"

#include "kernels/cpu/isa/attention_tile.h"
#include "kernels/cpu/isa/flash_product.h"
#include "kernels/cpu/isa/flash_rows.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

template <int kVectors>
void weigh_flash(const FlashUnit& unit, const TileRows& rows, const Tile& tile, const AttentionState& state) {
  float factors[kTileKeys];
  for (int64_t r = 0; r < unit.rows; ++r) {
    const FlashRow& row = unit.row[r];
    float* scores = tile.scores + r * kTileKeys;
    Vec s[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) s[v] = load(scores + v * kLanes);
    score_row(unit, row, rows.begin, rows.count, s);
    weigh_scores(s, r, tile.padded, state);
    if (unit.dropout.drops) {
      draw_factors(unit, row, rows.begin, factors);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const Vec factor = load(factors + v * kLanes);
        s[v] = select(equal(factor, set1(0.0F)), factor, s[v] * factor);
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(scores + v * kLanes, s[v]);
  }
}

/// O += P V where some row does not see all keys.
void add_part(const TileRows& rows, const Tile& tile, float* total) {
  const TileRows none{.key = {}, .value = {}, .begin = 0, .count = 0};
  if (tile.few)
    with_format(
        tile.unit.keys.format, [&]<KvFormat kFormat>() __attribute__((always_inline)) {
          load_values<kFormat>(rows, none, tile.dim, tile.padded, tile.value);
        });
  add_weighed({tile.scores, tile.value, total, kTileKeys, tile.padded, tile.padded, rows.count, true},
              tile.unit.rows, tile.padded, all_finite(tile.value, rows.count * tile.padded));
}

void forward(const FlashUnit& unit, int64_t begin, int64_t end, float* scratch, const AttentionState& state) {
  const AttentionUnit walk = walk_of(unit, end);
  const Tile tile(walk, scratch);
  load_unit_rows(unit, unit.scale, tile.query, tile.dim, [](const FlashRow& row) { return row.query; });
  each_tile(walk, begin, end, state, [&](const TileRows& rows, const TileRows& next) {
    tile.score(rows, next);
    with_vectors(rows.count, [&]<int kVectors>() { weigh_flash<kVectors>(unit, rows, tile, state); });
    sees_all(unit, rows.begin, rows.count) ? tile.add(rows, state.total) : add_part(rows, tile, state.total);
  });
  finish_flash(unit, state);
}

}  // namespace

const FlashTable kFlash = {forward};

}  // namespace orrery::kernels::ORRERY_ISA
