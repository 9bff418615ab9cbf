// The products of attention for a step of very few rows (decode): keys and values are read once, straight
// from their pages, where transposing a tile would cost more than it saves.
//   scores[r][i] = query[r] . key i      lanes along head_dim: rounded in another order than for many rows
//   squares[i] = key i . key i      the same; keys are in L1 by then
//   total[r][d] += sum_i weight[r][i] value[i][d]      key by key, as for many rows
#pragma once

#include "kernels/cpu/isa/attention_rows.h"

namespace orrery::kernels::ORRERY_ISA {

/// Times four accumulators: all of AVX2's registers, and still faster than a transpose.
constexpr int64_t kFewRows = 4;

template <KvFormat kFormat, int kRows>
ORRERY_INLINE void add_products(const std::byte* const* key, const float* query, int64_t dim, int64_t d,
                                int64_t n, Vec (&total)[kRows][4]) {
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
}

template <KvFormat kFormat, int kRows>
void score_few(const TileRows& rows, const TileRows& next, const float* query, int64_t dim, float* scores) {
  for (int64_t first = 0; first < rows.count; first += 4) {
    for (int64_t i = first; i < first + 4 && i < next.count; ++i) {
      prefetch<kFormat>(next.key[i], dim);
      prefetch<kFormat>(next.value[i], dim);
    }
    Vec total[kRows][4];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) total[r][i] = set1(0.0F);
    }
    int64_t d = 0;
    for (; d + kLanes <= dim; d += kLanes) {
      add_products<kFormat, kRows>(rows.key + first, query, dim, d, kLanes, total);
    }
    if (d < dim) add_products<kFormat, kRows>(rows.key + first, query, dim, d, dim - d, total);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      _mm_storeu_ps(scores + r * kTileKeys + first,
                    sums_of(total[r][0], total[r][1], total[r][2], total[r][3]));
    }
  }
}

template <KvFormat kFormat>
void squares_few(const TileRows& rows, int64_t dim, float* squares) {
  for (int64_t first = 0; first < rows.count; first += 4) {
    Vec total[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) total[i] = set1(0.0F);
    for (int64_t d = 0; d < dim; d += kLanes) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const Vec x = load_elements<kFormat>(rows.key[first + i], d, dim - d);
        total[i] = fma(x, x, total[i]);
      }
    }
    _mm_storeu_ps(squares + first, sums_of(total[0], total[1], total[2], total[3]));
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
  void (*score)(const TileRows& rows, const TileRows& next, const float* query, int64_t dim, float* scores);
  void (*total)(const TileRows& rows, const float* weights, int64_t dim, float* total);
  void (*squares)(const TileRows& rows, int64_t dim, float* squares);
};

template <KvFormat kFormat>
FewRows few_rows_of(int64_t rows) {
  static_assert(kFewRows <= 4);
  switch (rows) {
    case 1:
      return {score_few<kFormat, 1>, total_few<kFormat, 1>, squares_few<kFormat>};
    case 2:
      return {score_few<kFormat, 2>, total_few<kFormat, 2>, squares_few<kFormat>};
    case 3:
      return {score_few<kFormat, 3>, total_few<kFormat, 3>, squares_few<kFormat>};
    default:
      return {score_few<kFormat, 4>, total_few<kFormat, 4>, squares_few<kFormat>};
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
