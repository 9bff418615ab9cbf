// Attention of one unit over one chunk of keys, flash style (arXiv 2205.14135, 2307.08691):
//   for each tile of 64 keys:  S = (scale Q) K^T      m' = max(m, rowmax S)      P = e^(S - m')
//                              l = l e^(m - m') + rowsum P      O = O e^(m - m') + P V
//   layout, all f32: Q (rows, head_dim), K transposed (head_dim, 64), V (64, padded head_dim), S (rows, 64),
//     O (rows, padded head_dim); keys and values are converted once per tile
//   Both products are one register-tiled loop, C += A B, with lanes along keys or head_dim: an element is
//   summed in one fixed order however the rows are tiled.
//   a call is one thread's work; scratch and state belong to it
//   traffic: 2 * keys * head_dim stored elements a unit; the tiles stay in L1 and L2
//   arithmetic: 4 * rows * keys * head_dim flops
#include "kernels/cpu/isa/attention.h"

#include "kernels/cpu/isa/attention_few.h"
#include "kernels/cpu/isa/attention_rows.h"
#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/isa/simd_math.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr float kMinusInfinity = -__builtin_inff();
constexpr int kTileVectors = kTileKeys / kLanes;

// Register tile of the product: rows x vectors accumulators, one row of B and one broadcast fit
// the registers (32 of AVX-512, 16 of AVX2).
constexpr int kBlockRows = 6;
constexpr int kBlockVectors = kLanes == 16 ? 4 : 2;

struct Product {
  const float* a;  // (rows, depth)
  const float* b;  // (depth, columns)
  float* c;        // (rows, columns)
  int64_t lda, ldb, ldc;
  int64_t depth;
  bool add;  // C += A B, else C = A B
};

template <int kRows, int kVectors>
void multiply_block(const Product& p) {
  Vec total[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) total[r][v] = p.add ? load(p.c + r * p.ldc + v * kLanes) : set1(0.0F);
  }
  const float* a = p.a;
  const float* b = p.b;
  for (int64_t k = 0; k < p.depth; ++k, ++a, b += p.ldb) {
    Vec row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = load(b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vec factor = set1(a[r * p.lda]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) total[r][v] = fma(factor, row[v], total[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(p.c + r * p.ldc + v * kLanes, total[r][v]);
  }
}

template <int kVectors>
void multiply_columns(Product p, int64_t rows) {
  for (; rows >= kBlockRows; rows -= kBlockRows) {
    multiply_block<kBlockRows, kVectors>(p);
    p.a += kBlockRows * p.lda;
    p.c += kBlockRows * p.ldc;
  }
  switch (rows) {
    case 5:
      return multiply_block<5, kVectors>(p);
    case 4:
      return multiply_block<4, kVectors>(p);
    case 3:
      return multiply_block<3, kVectors>(p);
    case 2:
      return multiply_block<2, kVectors>(p);
    case 1:
      return multiply_block<1, kVectors>(p);
    default:
      return;
  }
}

/// columns is a multiple of kLanes.
void multiply(Product p, int64_t rows, int64_t columns) {
  const auto step = [&](int vectors) {
    p.b += vectors * kLanes;
    p.c += vectors * kLanes;
    columns -= vectors * kLanes;
  };
  for (; columns >= kBlockVectors * kLanes; step(kBlockVectors)) multiply_columns<kBlockVectors>(p, rows);
  for (; columns >= 2 * kLanes; step(2)) multiply_columns<2>(p, rows);
  for (; columns >= kLanes; step(1)) multiply_columns<1>(p, rows);
}

/// key[d][i] = row i's element d, while the next tile's keys are asked for. Columns behind the last row
/// repeat it; no query sees them.
template <KvFormat kFormat>
void load_keys(const TileRows& rows, const TileRows& next, int64_t dim, float* key) {
  for (int64_t first = 0; first < rows.count; first += kLanes) {
    const std::byte* const* row = rows.key + first;
    for (int64_t i = first; i < first + kLanes && i < next.count; ++i) prefetch<kFormat>(next.key[i], dim);
    Vec block[kLanes];
    int64_t d = 0;
    for (; d + kLanes <= dim; d += kLanes) {
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) block[i] = load_elements<kFormat>(row[i], d, kLanes);
      transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(key + (d + i) * kTileKeys + first, block[i]);
    }
    if (d == dim) continue;
    for (int i = 0; i < kLanes; ++i) block[i] = load_elements<kFormat>(row[i], d, dim - d);
    transpose(block);
    for (int i = 0; i < dim - d; ++i) store(key + (d + i) * kTileKeys + first, block[i]);
  }
}

/// value[i][d], zero behind head_dim.
template <KvFormat kFormat>
void load_values(const TileRows& rows, const TileRows& next, int64_t dim, int64_t padded, float* value) {
  for (int64_t i = 0; i < rows.count; ++i) {
    if (i < next.count) prefetch<kFormat>(next.value[i], dim);
    float* dst = value + i * padded;
    int64_t d = 0;
    for (; d + kLanes <= dim; d += kLanes) store(dst + d, load_elements<kFormat>(rows.value[i], d, kLanes));
    for (; d < padded; d += kLanes) {
      store(dst + d, d < dim ? load_elements<kFormat>(rows.value[i], d, dim - d) : set1(0.0F));
    }
  }
}

template <KvFormat kFormat>
void load_rows(const TileRows& rows, const TileRows& next, int64_t dim, float* key, float* value) {
  load_keys<kFormat>(rows, next, dim, key);
  load_values<kFormat>(rows, next, dim, padded_dim(dim), value);
}

void load_tile(KvFormat format, const TileRows& rows, const TileRows& next, int64_t dim, float* key,
               float* value) {
  switch (format) {
    case KvFormat::f32:
      return load_rows<KvFormat::f32>(rows, next, dim, key, value);
    case KvFormat::f16:
      return load_rows<KvFormat::f16>(rows, next, dim, key, value);
    case KvFormat::bf16:
      return load_rows<KvFormat::bf16>(rows, next, dim, key, value);
    case KvFormat::q8_0:
      return load_rows<KvFormat::q8_0>(rows, next, dim, key, value);
  }
}

void load_query(const AttentionUnit& unit, float* query) {
  const Vec scale = set1(unit.scale);
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t row = unit.first_row + r;
    const float* src = unit.query + row / unit.group * unit.query_stride + row % unit.group * unit.head_dim;
    float* dst = query + r * unit.head_dim;
    int64_t d = 0;
    for (; d + kLanes <= unit.head_dim; d += kLanes) store(dst + d, load(src + d) * scale);
    if (d < unit.head_dim)
      store_part(dst + d, load_part(src + d, unit.head_dim - d) * scale, unit.head_dim - d);
  }
}

/// Keys [low, high) of a tile that a row sees, as far as the tile goes.
struct Span {
  int64_t low, high;
};

Span visible(const AttentionUnit& unit, int64_t row, int64_t begin, int64_t end) {
  const int64_t position = unit.first_position + (unit.first_row + row) / unit.group;
  Span keys{begin, end};
  if (const int64_t last = visible_end(unit, position); last < end) keys.high = last;
  if (unit.window > 0 && position + 1 - unit.window > begin) keys.low = position + 1 - unit.window;
  return {keys.low - begin, keys.high - begin};
}

float exp_of(float x) {
  float lanes[kLanes];
  store(lanes, exp(set1(x)));
  return lanes[0];
}

void scale_row(float* row, int64_t n, float factor) {
  const Vec f = set1(factor);
  for (int64_t i = 0; i < n; i += kLanes) store(row + i, load(row + i) * f);
}

/// Adds what row r has by distance for the keys from `begin` on.
void add_bias(const AttentionUnit& unit, int64_t r, int64_t begin, int vectors, Vec* scores) {
  const int64_t row = unit.first_row + r;
  const int64_t reach = unit.bias_reach;
  const float* bias = unit.bias + row % unit.group * (2 * reach + 1);
  int64_t distance = begin - (unit.first_position + row / unit.group);
  for (int v = 0; v < vectors; ++v, distance += kLanes) {
    if (distance >= -reach && distance + kLanes - 1 <= reach) {
      scores[v] = scores[v] + load(bias + distance);
      continue;
    }
    float lanes[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t at = distance + i;
      lanes[i] = bias[at < -reach ? -reach : at > reach ? reach : at];
    }
    scores[v] = scores[v] + load(lanes);
  }
}

/// Scores of one row for the keys from `begin` on to weights, in place; the row's state follows. `vectors`
/// covers the tile's keys.
void weigh(const AttentionUnit& unit, Span seen, int64_t begin, int vectors, float* scores, int64_t r,
           const AttentionState& state) {
  Vec s[kTileVectors];
  Vec best = set1(kMinusInfinity);
  for (int v = 0; v < vectors; ++v) {
    s[v] = load(scores + v * kLanes);
    if (unit.softcap > 0) s[v] = set1(unit.softcap) * tanh(s[v] * set1(1.0F / unit.softcap));
  }
  if (unit.bias != nullptr) add_bias(unit, r, begin, vectors, s);
  for (int v = 0; v < vectors; ++v) {
    const int64_t first = v * kLanes;
    if (seen.low > first || seen.high < first + kLanes) {
      s[v] = select(lanes_between(seen.low - first, seen.high - first), s[v], set1(kMinusInfinity));
    }
    best = max(best, s[v]);
  }
  const float before = state.largest[r];
  const float top = largest(best);
  if (top == kMinusInfinity) {  // sees nothing here: weights of zero leave the row as it is
    for (int v = 0; v < vectors; ++v) store(scores + v * kLanes, set1(0.0F));
    return;
  }
  const float now = top > before ? top : before;
  Vec added = set1(0.0F);
  for (int v = 0; v < vectors; ++v) {
    const Vec weight = exp(s[v] - set1(now));
    store(scores + v * kLanes, weight);
    added = added + weight;
  }
  if (now != before) {
    const float shrink = exp_of(before - now);
    scale_row(state.total + r * padded_dim(unit.head_dim), padded_dim(unit.head_dim), shrink);
    state.sum[r] *= shrink;
    state.largest[r] = now;
  }
  state.sum[r] += sum(added);
}

void tile(const AttentionUnit& unit, const TileRows& rows, const TileRows& next, float* scratch,
          const AttentionState& state) {
  const int64_t dim = unit.head_dim;
  const int64_t padded = padded_dim(dim);
  float* query = scratch;
  float* key = query + kUnitRows * padded;
  float* value = key + kTileKeys * padded;
  float* scores = value + kTileKeys * padded;
  const int vectors = static_cast<int>((rows.count + kLanes - 1) / kLanes);
  const bool few = unit.step_rows <= kFewRows;
  const FewRows loops = few_rows(unit.keys.format, unit.rows);
  if (few) {
    loops.score(rows, next, query, dim, scores);
  } else {
    load_tile(unit.keys.format, rows, next, dim, key, value);
    multiply({query, key, scores, dim, kTileKeys, kTileKeys, dim, false}, unit.rows, vectors * kLanes);
  }
  for (int64_t r = 0; r < unit.rows; ++r) {
    const Span seen = visible(unit, r, rows.begin, rows.begin + rows.count);
    weigh(unit, seen, rows.begin, vectors, scores + r * kTileKeys, r, state);
  }
  if (few) {
    loops.total(rows, scores, dim, state.total);
  } else {
    multiply({scores, value, state.total, kTileKeys, padded, padded, rows.count, true}, unit.rows, padded);
  }
}

int64_t nearer(int64_t a, int64_t b) { return a < b ? a : b; }

void chunk(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
           const AttentionState& state) {
  load_query(unit, scratch);
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
    tile(unit, tiles[i % 2], coming, scratch, state);
  }
}

void merge(int64_t rows, int64_t head_dim, const AttentionState& into, const AttentionState& next) {
  const int64_t padded = padded_dim(head_dim);
  for (int64_t r = 0; r < rows; ++r) {
    if (next.largest[r] == kMinusInfinity) continue;
    const float top = into.largest[r] > next.largest[r] ? into.largest[r] : next.largest[r];
    const float keep = exp_of(into.largest[r] - top);
    const float take = exp_of(next.largest[r] - top);
    into.largest[r] = top;
    into.sum[r] = into.sum[r] * keep + next.sum[r] * take;
    float* total = into.total + r * padded;
    const float* more = next.total + r * padded;
    for (int64_t d = 0; d < padded; d += kLanes) {
      store(total + d, fma(load(total + d), set1(keep), load(more + d) * set1(take)));
    }
  }
}

void finish(const AttentionUnit& unit, const AttentionState& state) {
  const int64_t padded = padded_dim(unit.head_dim);
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t row = unit.first_row + r;
    float* dst = unit.dst + row / unit.group * unit.dst_stride + row % unit.group * unit.head_dim;
    const float* total = state.total + r * padded;
    const Vec factor = set1(state.sum[r] > 0 || state.sum[r] != state.sum[r] ? 1.0F / state.sum[r] : 0.0F);
    int64_t d = 0;
    for (; d + kLanes <= unit.head_dim; d += kLanes) store(dst + d, load(total + d) * factor);
    if (d < unit.head_dim) store_part(dst + d, load(total + d) * factor, unit.head_dim - d);
  }
}

}  // namespace

const AttentionTable kAttention = {chunk, merge, finish};

}  // namespace orrery::kernels::ORRERY_ISA
