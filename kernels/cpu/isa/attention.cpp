// Attention of one unit over one chunk of keys, flash style (arXiv 2205.14135, 2307.08691):
//   for each tile of 64 keys:  S = (scale Q) K^T      m' = max(m, rowmax S)      P = e^(S - m')
//                              l = l e^(m - m') + rowsum P      O = O e^(m - m') + P V
//   layout and order of sums: attention_tile.h
//   a call is one thread's work; scratch and state belong to it
//   traffic: 2 * keys * head_dim stored elements a unit; the tiles stay in L1 and L2
//   arithmetic: 4 * rows * keys * head_dim flops
#include "kernels/cpu/isa/attention.h"

#include "kernels/cpu/isa/attention_softmax.h"
#include "kernels/cpu/isa/attention_tile.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

void chunk(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
           const AttentionState& state) {
  const Tile tile(unit, scratch);
  load_query(unit, tile.query, [&](const float*) { return unit.scale; });
  each_tile(unit, begin, end, state, [&](const TileRows& rows, const TileRows& next) {
    tile.score(rows, next);
    with_vectors(rows.count, [&]<int kVectors>() {
      for (int64_t r = 0; r < unit.rows; ++r) {
        float* row = tile.scores + r * kTileKeys;
        Vec s[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) s[v] = load(row + v * kLanes);
        weigh(unit, visible(unit, r, rows.begin, rows.begin + rows.count), rows.begin, s, r, state);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) store(row + v * kLanes, s[v]);
      }
    });
    tile.add(rows, state.total);
  });
}

}  // namespace

const AttentionTable kAttention = {chunk, merge, finish};

}  // namespace orrery::kernels::ORRERY_ISA
