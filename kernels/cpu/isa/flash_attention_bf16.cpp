// Attention over whole tensors of bf16, as flash_attention.cpp has it, with both products in bf16
// (attention_pairs.h: pairs of neighbouring depths, sums in float32):
//   S = scale Q K^T      P = e^(S - m'), l = rowsum P in float32      O += bf16(keep P) V
//   layouts: those of attention_bf16.cpp
//   a call is one thread's work; scratch and state belong to it
//   traffic: 4 keys * head_dim bytes a unit, bias and mask once    arithmetic: 4 rows * keys * head_dim
#include "kernels/cpu/isa/flash_attention.h"

#include "kernels/cpu/isa/attention_bf16_tile.h"
#include "kernels/cpu/isa/flash_pairs.h"
#include "kernels/cpu/isa/flash_rows.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

template <int kVectors>
void weigh_pairs(const FlashUnit& unit, const TileRows& rows, float* scores, const AttentionState& state) {
  const Vec scale = set1(unit.scale);
  float factors[kTileKeys];
  for (int64_t r = 0; r < unit.rows; ++r) {
    const FlashRow& row = unit.row[r];
    float* at = scores + r * kTileKeys;
    Vec s[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) s[v] = load(at + v * kLanes) * scale;
    score_row(unit, row, rows.begin, rows.count, s);
    weigh_scores(s, r, padded_dim(unit.head_dim), state);
    if (unit.dropout.drops) {
      draw_factors(unit, row, rows.begin, factors);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Vec factor = load(factors + v * kLanes);
        s[v] = select(equal(factor, set1(0.0F)), factor, s[v] * factor);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; v += 2)
      store(at + v / 2 * kLanes,
            rounded(v < kVectors ? s[v] : set1(0.0F), v + 1 < kVectors ? s[v + 1] : set1(0.0F)));
  }
}

void forward(const FlashUnit& unit, int64_t begin, int64_t end, float* scratch, const AttentionState& state) {
  [[maybe_unused]] const PairProducts products;
  const AttentionUnit walk = walk_of(unit, end);
  const int64_t dim = unit.head_dim, padded = padded_dim(dim), pairs = padded_pairs(dim);
  float* query = scratch;
  float* key = query + kUnitRows * padded;
  float* value = key + kTileKeys * padded;
  float* scores = value + kTileKeys * padded;
  const auto as_pairs = [](const float* p) { return reinterpret_cast<const uint32_t*>(p); };
  for (int64_t r = 0; r < unit.rows; ++r)
    for (int64_t k = 0; k < pairs; k += kLanes)
      store(query + r * pairs + k, pairs_of(static_cast<const uint16_t*>(unit.row[r].query), 2 * k, dim));
  clear_rows(query, unit.rows, pairs);
  clear_rows(state.total, unit.rows, padded);
  each_tile(walk, begin, end, state, [&](const TileRows& rows, const TileRows& next) {
    const int64_t columns = (rows.count + kLanes - 1) / kLanes * kLanes;
    load_key_pairs<uint16_t>(rows, next, dim, key);
    load_value_pairs<uint16_t>(rows, next, dim, padded, value);
    multiply_pairs(PairProduct{as_pairs(query), as_pairs(key), scores, pairs, kTileKeys, kTileKeys,
                               (dim + 1) / 2, false},
                   unit.rows, columns);
    with_vectors(rows.count, [&]<int kVectors>() { weigh_pairs<kVectors>(unit, rows, scores, state); });
    const PairProduct sum{as_pairs(scores), as_pairs(value), state.total,          kTileKeys,
                          padded,           padded,          (rows.count + 1) / 2, true};
    const bool finite =
        sees_all(unit, rows.begin, rows.count) || all_finite_pairs(value, (rows.count + 1) / 2 * padded);
    add_weighed(sum, unit.rows, padded, finite);
  });
  finish_flash(unit, state);
}

}  // namespace

const FlashTable kFlash = {forward};

}  // namespace orrery::kernels::ORRERY_ISA
