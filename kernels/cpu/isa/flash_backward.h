// Gradients of attention over whole tensors (FlashAttention-2's backward pass), in any arithmetic: for each
// pair of a tile of 64 rows and one of 64 keys
//   S = scale Q K^T, bent, biased and masked      P = e^(S - log_sum_exp)      D = grad_out V^T
//   dS = P (keep D - dot), E = dS times the softcap's slope
//   keys:    dV += (keep P)^T grad_out      dK += E^T Q, times scale at the end
//   queries: dQ += E K, times scale at the end; grad_bias = dS
//   The keys' gradients have one owner, who takes the rows in order, and so have the queries', who take the
//   keys in order: the same one, where each thread has whole heads (five products), or another one, who
//   computes S and D again (seven). The sums are the same bits. a call is one thread's work; preconditions:
//   as flash_attention.cpp arithmetic: 2 rows * keys * head_dim flops a product
// Between the products all is float32. A kind of Tiles has a thread's memory and the products:
//   Tiles(head_dim, scratch)           scratch: flash_backward_floats
//   load_keys(unit, begin, count)   as the products read them
//   load_rows(unit)                 Q and grad_out
//   score(rows, count)              scores = Q K^T, slopes = grad_out V^T, of 64 columns each
//   add_keys(rows, count)           first += slopes^T Q, second += scores^T grad_out
//   add_queries(rows, count, sums)  sums += slopes K, which is the last that the slopes are good for
#pragma once

#include "kernels/cpu/isa/flash_rows.h"

namespace orrery::kernels::ORRERY_ISA {

constexpr TileRows kNoRows = {.key = {}, .value = {}, .begin = 0, .count = 0};

/// So that what reads keys transposed, or values by rows, reads the other.
inline KeySource exchanged(const KeySource& keys) {
  KeySource other = keys;
  other.key = keys.value;
  other.value = keys.key;
  other.key_stride = keys.value_stride;
  other.value_stride = keys.key_stride;
  return other;
}

/// Sums of a tile of rows of padded head_dim.
ORRERY_INLINE void clear_tile(float* rows, int64_t padded) {
  __builtin_memset(rows, 0, static_cast<size_t>(kUnitRows * padded) * sizeof(float));
}

/// Q K^T to what grad_value is made of, and grad_out V^T to what grad_key and grad_query are, in place.
template <int kVectors>
void slope_rows(const FlashUnit& unit, int64_t begin, int64_t count, float* all_scores, float* all_slopes) {
  float factors[kTileKeys];
  for (int64_t r = 0; r < unit.rows; ++r) {
    const FlashRow& row = unit.row[r];
    float* scores = all_scores + r * kTileKeys;
    float* slopes = all_slopes + r * kTileKeys;
    const bool nothing = row.log_sum_exp == kMinusInfinity;
    if (unit.dropout.drops && !nothing) draw_factors(unit, row, begin, factors);
    Vec s[kVectors], bent[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) s[v] = load(scores + v * kLanes) * set1(unit.scale);
    if (!nothing) score_row(unit, row, begin, count, s, bent);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Mask unseen = nothing ? equal(set1(0.0F), set1(0.0F)) : equal(s[v], set1(kMinusInfinity));
      const Vec p = select(unseen, set1(0.0F), exp(s[v] - set1(row.log_sum_exp)));
      Vec d = load(slopes + v * kLanes), kept = p;
      if (unit.dropout.drops && !nothing) {
        const Vec factor = load(factors + v * kLanes);
        const Mask dropped = equal(factor, set1(0.0F));
        kept = select(dropped, factor, p * factor);
        d = select(dropped, factor, d * factor);
      }
      const Vec slope = select(unseen, set1(0.0F), p * (d - set1(row.dot)));
      store(scores + v * kLanes, kept);
      store(slopes + v * kLanes, unit.softcap > 0 ? select(unseen, set1(0.0F), slope * bent[v]) : slope);
      if (row.grad_bias != nullptr && count > v * kLanes)
        store_elements<KvFormat::f32>(row.grad_bias, begin + v * kLanes, slope, count - v * kLanes);
    }
  }
}

template <class Tiles>
struct FlashGradients {
  static void slopes_of(const FlashUnit& unit, int64_t begin, int64_t count, const Tiles& tiles) {
    tiles.score(unit.rows, count);
    with_vectors(
        count, [&]<int kVectors>() { slope_rows<kVectors>(unit, begin, count, tiles.scores, tiles.slopes); });
  }

  static void first(const FlashUnit& unit, int64_t begin, int64_t count, float* scratch) {
    const Tiles tiles(unit.head_dim, scratch);
    tiles.load_keys(unit, begin, count);
    clear_tile(tiles.first, tiles.padded);
    clear_tile(tiles.second, tiles.padded);
  }

  static void add(const FlashUnit& unit, int64_t begin, int64_t count, float* scratch, float* query_sums) {
    const Tiles tiles(unit.head_dim, scratch);
    tiles.load_rows(unit);
    slopes_of(unit, begin, count, tiles);
    tiles.add_keys(unit.rows, count);
    if (query_sums != nullptr) tiles.add_queries(unit.rows, count, query_sums);
  }

  static void last(const FlashUnit& unit, int64_t count, float* scratch, void* grad_key, void* grad_value) {
    const Tiles tiles(unit.head_dim, scratch);
    const auto put = [&](const float* rows, float factor, void* to) {
      const int64_t bytes = unit.head_dim * element_bytes(unit.keys.format);
      if (to != nullptr)
        store_unit_rows(
            unit, count, rows, [&](int64_t r) { return static_cast<std::byte*>(to) + r * bytes; },
            [&](int64_t) { return factor; });
    };
    put(tiles.first, unit.scale, grad_key);
    put(tiles.second, 1.0F, grad_value);
  }

  static void finish_queries(const FlashUnit& unit, const float* query_sums) {
    store_unit_rows(
        unit, unit.rows, query_sums, [&](int64_t r) { return unit.row[r].out; },
        [&](int64_t) { return unit.scale; });
  }

  static void queries(const FlashUnit& unit, int64_t begin, int64_t end, float* scratch) {
    const Tiles tiles(unit.head_dim, scratch);
    const bool wanted = unit.row[0].out != nullptr;
    tiles.load_rows(unit);
    clear_tile(tiles.first, tiles.padded);
    for (int64_t at = begin / kTileKeys * kTileKeys; at < end; at += kTileKeys) {
      const int64_t count = nearer(kTileKeys, end - at);
      tiles.load_keys(unit, at, count);
      slopes_of(unit, at, count, tiles);
      if (wanted) tiles.add_queries(unit.rows, count, tiles.first);
    }
    if (wanted) finish_queries(unit, tiles.first);
  }
};

}  // namespace orrery::kernels::ORRERY_ISA
