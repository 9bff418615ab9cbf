// One tile of keys and values in float32: the two products, before and after its scores become weights.
//   layout: Q (rows, head_dim), K transposed (head_dim, 64), V (64, padded head_dim), S (rows, 64), O (rows,
//     padded head_dim); keys and values are converted once per tile
//   Both products are one register-tiled loop, C += A B, with lanes along keys or head_dim: an element is
//   summed in one fixed order however the rows are tiled. Steps of very few rows read keys and values where
//   they lie (attention_few.h).
#pragma once

#include "kernels/cpu/isa/attention_few.h"
#include "kernels/cpu/isa/attention_product.h"
#include "kernels/cpu/isa/attention_unit.h"

namespace orrery::kernels::ORRERY_ISA {

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

inline void load_tile(KvFormat format, const TileRows& rows, const TileRows& next, int64_t dim, float* key,
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

/// Each row times scale_of(row).
template <class ScaleOf>
void load_query(const AttentionUnit& unit, float* query, ScaleOf&& scale_of) {
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t row = unit.first_row + r;
    const float* src = unit.query + row / unit.group * unit.query_stride + row % unit.group * unit.head_dim;
    float* dst = query + r * unit.head_dim;
    const Vec scale = set1(scale_of(src));
    int64_t d = 0;
    for (; d + kLanes <= unit.head_dim; d += kLanes) store(dst + d, load(src + d) * scale);
    if (d < unit.head_dim)
      store_part(dst + d, load_part(src + d, unit.head_dim - d) * scale, unit.head_dim - d);
  }
}

/// Squared lengths of kVectors vectors of transposed keys.
template <int kVectors>
void square_keys(const float* key, int64_t dim, float* squares) {
  Vec total[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) total[v] = set1(0.0F);
  for (int64_t d = 0; d < dim; ++d) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Vec x = load(key + d * kTileKeys + v * kLanes);
      total[v] = fma(x, x, total[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) store(squares + v * kLanes, total[v]);
}

/// A thread's memory (attention_scratch_floats), and the products of one tile.
struct Tile {
  const AttentionUnit& unit;
  float *query, *key, *value, *scores;
  int64_t dim, padded;
  bool few;

  Tile(const AttentionUnit& unit, float* scratch)
      : unit(unit),
        query(scratch),
        key(query + kUnitRows * padded_dim(unit.head_dim)),
        value(key + kTileKeys * padded_dim(unit.head_dim)),
        scores(value + kTileKeys * padded_dim(unit.head_dim)),
        dim(unit.head_dim),
        padded(padded_dim(unit.head_dim)),
        few(unit.step_rows <= kFewRows) {}

  /// Vectors that cover the tile's keys.
  ORRERY_INLINE static int vectors_of(const TileRows& rows) {
    return static_cast<int>((rows.count + kLanes - 1) / kLanes);
  }
  /// S = Q K^T and, where they have a place, the squared length of each key, while the next tile is asked
  /// for.
  void score(const TileRows& rows, const TileRows& next, float* squares = nullptr) const {
    if (few) {
      const FewRows loops = few_rows(unit.keys.format, unit.rows);
      return (squares != nullptr ? loops.score_and_squares : loops.score)(rows, next, query, dim, scores,
                                                                          squares);
    }
    const int vectors = vectors_of(rows);
    load_tile(unit.keys.format, rows, next, dim, key, value);
    multiply(Product<Floats>{query, key, scores, dim, kTileKeys, kTileKeys, dim, false}, unit.rows,
             vectors * kLanes);
    if (squares == nullptr) return;
    int v = 0;
    for (; v + 4 <= vectors; v += 4) square_keys<4>(key + v * kLanes, dim, squares + v * kLanes);
    for (; v < vectors; ++v) square_keys<1>(key + v * kLanes, dim, squares + v * kLanes);
  }
  /// O += S V, once the scores are weights.
  void add(const TileRows& rows, float* total) const {
    if (few) return few_rows(unit.keys.format, unit.rows).total(rows, scores, dim, total);
    multiply(Product<Floats>{scores, value, total, kTileKeys, padded, padded, rows.count, true}, unit.rows,
             padded);
  }
};

}  // namespace orrery::kernels::ORRERY_ISA
