// Attention by Fastmax (arXiv 2402.07901) of one unit over one chunk of keys. Its weights need no exponential
// and no running maximum:
//   for each tile of 64 keys:  S = Q K^T diag(f)      P = 1 + S + S^2 / 2, or max(1 + S, 0)
//                              l = l + rowsum P       O = O + P V
//   normalised: a row of Q is limit query / |query|, f_j = limit / |key_j|; else Q = scale query, f_j = 1
//   scores and lengths are bounded as kernels/attention.h has it; NaN stays NaN
//   layout and order of sums: attention_tile.h
//   a call is one thread's work; scratch and state belong to it
//   traffic: 2 * keys * head_dim stored elements a unit; the tiles stay in L1 and L2
//   arithmetic: 4 * rows * keys * head_dim flops, and 2 * keys * head_dim for the lengths of a unit's keys
#include "kernels/cpu/isa/attention.h"

#include "kernels/cpu/isa/attention_tile.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

/// x between least and most; where it is NaN, x.
ORRERY_INLINE Vec between(float least, Vec x, float most) { return min(set1(most), max(set1(least), x)); }

/// What brings rows of these squared lengths to the limit.
ORRERY_INLINE Vec to_limit(const FastmaxTerms& terms, Vec squares) {
  const Vec kept = between(terms.shortest * terms.shortest, squares, terms.longest * terms.longest);
  return set1(terms.limit) / sqrt(kept);
}

float scale_of(const AttentionUnit& unit, const float* query) {
  if (!unit.fastmax.normalise) return unit.scale;
  Vec squares = set1(0.0F);
  int64_t d = 0;
  for (; d + kLanes <= unit.head_dim; d += kLanes) {
    const Vec x = load(query + d);
    squares = fma(x, x, squares);
  }
  if (d < unit.head_dim) {
    const Vec x = load_part(query + d, unit.head_dim - d);
    squares = fma(x, x, squares);
  }
  float lanes[kLanes];
  store(lanes, to_limit(unit.fastmax, set1(sum(squares))));
  return lanes[0];
}

/// The tile's scores, and the factor f of each of its keys.
void score(const Tile& tile, const TileRows& rows, const TileRows& next, float* factors) {
  const FastmaxTerms& terms = tile.unit.fastmax;
  const int vectors = Tile::vectors_of(rows);
  if (!terms.normalise) {
    tile.score(rows, next);
    for (int v = 0; v < vectors; ++v) store(factors + v * kLanes, set1(1.0F));
    return;
  }
  tile.score(rows, next, factors);
  for (int v = 0; v < vectors; ++v) store(factors + v * kLanes, to_limit(terms, load(factors + v * kLanes)));
}

template <int kP>
ORRERY_INLINE Vec weight_of(Vec score) {
  const Vec one = set1(1.0F);
  return kP == 2 ? fma(fma(set1(0.5F), score, one), score, one) : max(set1(0.0F), one + score);
}

/// Scores of one row to weights, in place; what they add up to.
template <int kP>
ORRERY_INLINE float weigh(float most, Span seen, int vectors, const float* factors, float* scores) {
  Vec added = set1(0.0F);
  for (int v = 0; v < vectors; ++v) {
    const int64_t first = v * kLanes;
    Vec weight = weight_of<kP>(between(-most, load(scores + first) * load(factors + first), most));
    if (seen.low > first || seen.high < first + kLanes)
      weight = select(lanes_between(seen.low - first, seen.high - first), weight, set1(0.0F));
    store(scores + first, weight);
    added = added + weight;
  }
  return sum(added);
}

template <int kP>
void chunk_of(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
              const AttentionState& state) {
  const Tile tile(unit, scratch);
  load_query(unit, tile.query, [&](const float* query) { return scale_of(unit, query); });
  each_tile(unit, begin, end, state, [&](const TileRows& rows, const TileRows& next) {
    float factors[kTileKeys];
    score(tile, rows, next, factors);
    for (int64_t r = 0; r < unit.rows; ++r) {
      const Span seen = visible(unit, r, rows.begin, rows.begin + rows.count);
      state.sum[r] += weigh<kP>(unit.fastmax.largest_score, seen, Tile::vectors_of(rows), factors,
                                tile.scores + r * kTileKeys);
    }
    tile.add(rows, state.total);
  });
}

void chunk(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
           const AttentionState& state) {
  unit.fastmax.p == 2 ? chunk_of<2>(unit, begin, end, scratch, state)
                      : chunk_of<1>(unit, begin, end, scratch, state);
}

void merge(int64_t rows, int64_t head_dim, const AttentionState& into, const AttentionState& next) {
  const int64_t padded = padded_dim(head_dim);
  for (int64_t r = 0; r < rows; ++r) into.sum[r] += next.sum[r];
  for (int64_t i = 0; i < rows * padded; i += kLanes)
    store(into.total + i, load(into.total + i) + load(next.total + i));
}

}  // namespace

const AttentionTable kFastmax = {chunk, merge, finish};

}  // namespace orrery::kernels::ORRERY_ISA
