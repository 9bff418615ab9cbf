// What attention of any kind does around its two products: which keys a row sees, tile after tile of them,
// and what a row has become at the end.
#pragma once

#include "kernels/cpu/isa/attention_rows.h"

namespace orrery::kernels::ORRERY_ISA {

constexpr float kMinusInfinity = -__builtin_inff();
constexpr int kTileVectors = kTileKeys / kLanes;

/// Keys [low, high) of a tile that a row sees, as far as the tile goes.
struct Span {
  int64_t low, high;
};

inline Span visible(const AttentionUnit& unit, int64_t row, int64_t begin, int64_t end) {
  const int64_t position = unit.first_position + (unit.first_row + row) / unit.group;
  Span keys{begin, end};
  if (const int64_t last = visible_end(unit, position); last < end) keys.high = last;
  if (unit.window > 0 && position + 1 - unit.window > begin) keys.low = position + 1 - unit.window;
  return {keys.low - begin, keys.high - begin};
}

inline int64_t nearer(int64_t a, int64_t b) { return a < b ? a : b; }

/// state = the unit's rows over keys [begin, end): tile(rows, next) adds one tile of them, while `next` is
/// asked for.
template <class Tile>
void each_tile(const AttentionUnit& unit, int64_t begin, int64_t end, const AttentionState& state,
               Tile&& tile) {
  for (int64_t r = 0; r < unit.rows; ++r) {
    state.largest[r] = kMinusInfinity;
    state.sum[r] = 0.0F;
  }
  __builtin_memset(state.total, 0,
                   static_cast<size_t>(unit.rows * padded_dim(unit.head_dim)) * sizeof(float));
  // While a tile is computed, the next one, which may be the next chunk's first, is on its way from memory.
  const int64_t last_row = unit.first_row + unit.rows - 1;
  const int64_t last = visible_end(unit, unit.first_position + last_row / unit.group);
  TileRows tiles[2];
  int64_t first = begin / kTileKeys * kTileKeys;
  find_rows(unit.keys, first, nearer(first + kTileKeys, end), tiles[0]);
  for (int64_t i = 0; first < end; first += kTileKeys, ++i) {
    const int64_t next = first + kTileKeys;
    TileRows& coming = tiles[(i + 1) % 2];
    coming.count = 0;
    if (next < last) find_rows(unit.keys, next, nearer(next + kTileKeys, next < end ? end : last), coming);
    tile(tiles[i % 2], coming);
  }
}

/// dst = total / sum, by write(element of dst, values, how many of them).
template <class Write>
void finish_rows(const AttentionUnit& unit, const AttentionState& state, Write&& write) {
  const int64_t padded = padded_dim(unit.head_dim);
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t row = unit.first_row + r;
    const int64_t dst = row / unit.group * unit.dst_stride + row % unit.group * unit.head_dim;
    const float* total = state.total + r * padded;
    const Vec factor = set1(state.sum[r] > 0 || state.sum[r] != state.sum[r] ? 1.0F / state.sum[r] : 0.0F);
    for (int64_t d = 0; d < unit.head_dim; d += kLanes)
      write(dst + d, load(total + d) * factor, nearer(kLanes, unit.head_dim - d));
  }
}

inline void finish(const AttentionUnit& unit, const AttentionState& state) {
  finish_rows(unit, state, [&](int64_t at, Vec values, int64_t count) {
    if (count == kLanes)
      store(unit.dst + at, values);
    else
      store_part(unit.dst + at, values, count);
  });
}

}  // namespace orrery::kernels::ORRERY_ISA
