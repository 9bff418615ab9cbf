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
#include "kernels/cpu/isa/attention_product.h"
#include "kernels/cpu/isa/attention_softmax.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

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
    multiply(Product<Floats>{query, key, scores, dim, kTileKeys, kTileKeys, dim, false}, unit.rows,
             vectors * kLanes);
  }
  with_vectors(rows.count, [&]<int kVectors>() {
    for (int64_t r = 0; r < unit.rows; ++r) {
      float* row = scores + r * kTileKeys;
      Vec s[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) s[v] = load(row + v * kLanes);
      weigh(unit, visible(unit, r, rows.begin, rows.begin + rows.count), rows.begin, s, r, state);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) store(row + v * kLanes, s[v]);
    }
  });
  if (few) {
    loops.total(rows, scores, dim, state.total);
  } else {
    multiply(Product<Floats>{scores, value, state.total, kTileKeys, padded, padded, rows.count, true},
             unit.rows, padded);
  }
}

void chunk(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
           const AttentionState& state) {
  load_query(unit, scratch);
  each_tile(unit, begin, end, state,
            [&](const TileRows& rows, const TileRows& next) { tile(unit, rows, next, scratch, state); });
}

}  // namespace

const AttentionTable kAttention = {chunk, merge, finish};

}  // namespace orrery::kernels::ORRERY_ISA
