// The products of attention for a step of very few rows (decode): keys and values are read once, straight
// from their pages, where transposing a tile would cost more than it saves.
//   scores[r][i] = query[r] . key i      lanes along head_dim: rounded in another order than for many rows
//   squares[i] = key i . key i      the same, where they are asked for
//   total[r][d] += sum_i weight[r][i] value[i][d]      key by key, as for many rows
#pragma once

#include "kernels/cpu/isa/attention_rows.h"

namespace orrery::kernels::ORRERY_ISA {

/// Times four accumulators: all of AVX2's registers, and still faster than a transpose.
constexpr int64_t kFewRows = 4;

/// `total` of each query, then of the keys themselves where there is one more.
template <KvFormat kFormat, int kRows, int kTotals>
ORRERY_INLINE void add_products(const std::byte* const* key, const float* query, int64_t dim, int64_t d,
                                int64_t n, Vec (&total)[kTotals][4]) {
  Vec row[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) row[i] = load_elements<kFormat>(key[i], d, n);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const float* at = query + r * dim + d;
    const Vec q = n >= kLanes ? load(at) : load_part(at, n);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) total[r][i] = fma(q, row[i], total[r][i]);
  }
  if constexpr (kTotals > kRows) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) total[kRows][i] = fma(row[i], row[i], total[kRows][i]);
  }
}

template <KvFormat kFormat, int kRows, bool kSquares>
void score_few(const TileRows& rows, const TileRows& next, const float* query, int64_t dim, float* scores,
               float* squares) {
  constexpr int kTotals = kSquares ? kRows + 1 : kRows;
  for (int64_t first = 0; first < rows.count; first += 4) {
    for (int64_t i = first; i < first + 4 && i < next.count; ++i) {
      prefetch<kFormat>(next.key[i], dim);
      prefetch<kFormat>(next.value[i], dim);
    }
    Vec total[kTotals][4];
#pragma GCC unroll 5
    for (int r = 0; r < kTotals; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) total[r][i] = set1(0.0F);
    }
    int64_t d = 0;
    for (; d + kLanes <= dim; d += kLanes) {
      add_products<kFormat, kRows, kTotals>(rows.key + first, query, dim, d, kLanes, total);
    }
    if (d < dim) add_products<kFormat, kRows, kTotals>(rows.key + first, query, dim, d, dim - d, total);
#pragma GCC unroll 5
    for (int r = 0; r < kTotals; ++r) {
      _mm_storeu_ps((r < kRows ? scores + r * kTileKeys : squares) + first,
                    sums_of(total[r][0], total[r][1], total[r][2], total[r][3]));
    }
  }
}

/// Vectors [d, d + kVectors * kLanes) of the values; n elements of the last one exist.
template <KvFormat kFormat, int kRows, int kVectors>
ORRERY_INLINE void add_values(const TileRows& rows, const float* weights, int64_t padded, int64_t d,
                              int64_t n, float* total) {
  Vec sum[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = load(total + r * padded + d + v * kLanes);
  }
  for (int64_t i = 0; i < rows.count; ++i) {
    Vec value[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) value[v] = load_elements<kFormat>(rows.value[i], d + v * kLanes, n);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const Vec weight = set1(weights[r * kTileKeys + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fma(weight, value[v], sum[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(total + r * padded + d + v * kLanes, sum[r][v]);
  }
}

template <KvFormat kFormat, int kRows>
void total_few(const TileRows& rows, const float* weights, int64_t dim, float* total) {
  const int64_t padded = padded_dim(dim);
  int64_t d = 0;
  for (; d + 4 * kLanes <= dim; d += 4 * kLanes) {
    add_values<kFormat, kRows, 4>(rows, weights, padded, d, kLanes, total);
  }
  for (; d + kLanes <= dim; d += kLanes)
    add_values<kFormat, kRows, 1>(rows, weights, padded, d, kLanes, total);
  if (d < dim) add_values<kFormat, kRows, 1>(rows, weights, padded, d, dim - d, total);
}

/// The loops for one format and number of rows.
struct FewRows {
  using Score = void (*)(const TileRows& rows, const TileRows& next, const float* query, int64_t dim,
                         float* scores, float* squares);
  Score score;  // without squares
  Score score_and_squares;
  void (*total)(const TileRows& rows, const float* weights, int64_t dim, float* total);
};

template <KvFormat kFormat, int kRows>
constexpr FewRows kFewRowsOf = {score_few<kFormat, kRows, false>, score_few<kFormat, kRows, true>,
                                total_few<kFormat, kRows>};

template <KvFormat kFormat>
FewRows few_rows_of(int64_t rows) {
  static_assert(kFewRows <= 4);
  switch (rows) {
    case 1:
      return kFewRowsOf<kFormat, 1>;
    case 2:
      return kFewRowsOf<kFormat, 2>;
    case 3:
      return kFewRowsOf<kFormat, 3>;
    default:
      return kFewRowsOf<kFormat, 4>;
  }
}

inline FewRows few_rows(KvFormat format, int64_t rows) {
  switch (format) {
    case KvFormat::f16:
      return few_rows_of<KvFormat::f16>(rows);
    case KvFormat::bf16:
      return few_rows_of<KvFormat::bf16>(rows);
    case KvFormat::q8_0:
      return few_rows_of<KvFormat::q8_0>(rows);
    case KvFormat::f32:
      break;
  }
  return few_rows_of<KvFormat::f32>(rows);
}

}  // namespace orrery::kernels::ORRERY_ISA
