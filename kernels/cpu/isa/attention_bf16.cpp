// Attention of one unit over one chunk of packed keys, as attention.cpp has it, with both products in bf16
// (attention_pairs.h: pairs of neighbouring depths, sums in float32):
//   S = scale bf16(Q) bf16(K)^T      P = e^(S - m'), l = rowsum P in float32      O += bf16(P) bf16(V)
//   layout, pairs of bf16: Q (rows, head_dim / 2), K (head_dim / 2, 64 keys), V (32 pairs of keys, padded
//     head_dim), P in the place of S: row r begins where the scores of row r did
//   what is not there, past an odd head_dim or the last key, is zero
//   Q, K and V may come rounded, at half the bytes; dst may be stored so too, where the next matmul would
//   round it
//   a call is one thread's work; scratch and state belong to it
//   traffic: 8 * keys * head_dim bytes a unit, 4 where they come rounded        arithmetic: 4 * rows * keys *
//   head_dim flops
#include "kernels/cpu/isa/attention_bf16_tile.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

template <class Element>
void load_query(const AttentionUnit& unit, float* query) {
  const int64_t pairs = padded_pairs(unit.head_dim);
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t row = unit.first_row + r;
    const auto* src = reinterpret_cast<const Element*>(unit.query) + row / unit.group * unit.query_stride +
                      row % unit.group * unit.head_dim;
    for (int64_t k = 0; k < pairs; k += kLanes)
      store(query + r * pairs + k, pairs_of(src, 2 * k, unit.head_dim));
  }
  clear_rows(query, unit.rows, pairs);
}

/// Scores of the unit's rows to weights as pairs, in place.
template <int kVectors>
void weigh_rows(const AttentionUnit& unit, int64_t begin, int64_t end, float* scores,
                const AttentionState& state) {
  const Vec scale = set1(unit.scale);
  for (int64_t r = 0; r < unit.rows; ++r) {
    float* row = scores + r * kTileKeys;
    Vec s[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) s[v] = load(row + v * kLanes) * scale;
    weigh(unit, visible(unit, r, begin, end), begin, s, r, state);
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; v += 2)
      store(row + v / 2 * kLanes,
            rounded(v < kVectors ? s[v] : set1(0.0F), v + 1 < kVectors ? s[v + 1] : set1(0.0F)));
  }
}

template <class Element>
void tile(const AttentionUnit& unit, const TileRows& rows, const TileRows& next, float* scratch,
          const AttentionState& state) {
  const int64_t dim = unit.head_dim, padded = padded_dim(dim), pairs = padded_pairs(dim);
  float* query = scratch;
  float* key = query + kUnitRows * padded;
  float* value = key + kTileKeys * padded;
  float* scores = value + kTileKeys * padded;
  const int vectors = static_cast<int>((rows.count + kLanes - 1) / kLanes);
  const auto as_pairs = [](const float* p) { return reinterpret_cast<const uint32_t*>(p); };
  load_key_pairs<Element>(rows, next, dim, key);
  load_value_pairs<Element>(rows, next, dim, padded, value);
  multiply_pairs(
      PairProduct{as_pairs(query), as_pairs(key), scores, pairs, kTileKeys, kTileKeys, (dim + 1) / 2, false},
      unit.rows, vectors * kLanes);
  with_vectors(rows.count, [&]<int kVectors>() {
    weigh_rows<kVectors>(unit, rows.begin, rows.begin + rows.count, scores, state);
  });
  multiply_pairs(PairProduct{as_pairs(scores), as_pairs(value), state.total, kTileKeys, padded, padded,
                             (rows.count + 1) / 2, true},
                 unit.rows, padded);
}

template <class Element>
void chunk_of(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
              const AttentionState& state) {
  [[maybe_unused]] const PairProducts products;
  load_query<Element>(unit, scratch);
  clear_rows(state.total, unit.rows, padded_dim(unit.head_dim));
  each_tile(unit, begin, end, state, [&](const TileRows& rows, const TileRows& next) {
    tile<Element>(unit, rows, next, scratch, state);
  });
}

void chunk(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
           const AttentionState& state) {
  const bool stored_rounded = unit.keys.format == KvFormat::bf16;
  stored_rounded ? chunk_of<uint16_t>(unit, begin, end, scratch, state)
                 : chunk_of<float>(unit, begin, end, scratch, state);
}

void finish_as_asked(const AttentionUnit& unit, const AttentionState& state) {
  if (!unit.rounded) return finish(unit, state);
  auto* dst = reinterpret_cast<uint16_t*>(unit.dst);
  finish_rows(unit, state, [&](int64_t at, Vec values, int64_t count) {
    if (count == kLanes) return store_bf16(dst + at, values);
    uint16_t part[kLanes];
    store_bf16(part, values);
    __builtin_memcpy(dst + at, part, static_cast<size_t>(count) * sizeof(uint16_t));
  });
}

}  // namespace

const AttentionTable kAttention = {chunk, merge, finish_as_asked};

}  // namespace orrery::kernels::ORRERY_ISA
