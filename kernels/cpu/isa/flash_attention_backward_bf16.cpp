// Gradients of attention over whole tensors of bf16, with all five products in bf16 (attention_pairs.h):
// flash_backward.h has the formulas. P and E are rounded once they are float32.
//   layout, pairs of bf16: of neighbouring dims Q and grad_out (rows, head_dim / 2), K and V (head_dim / 2,
//   64);
//     of neighbouring rows Q, grad_out and K again (rows / 2, padded head_dim); P and E turned (64 keys, 32
//     pairs of rows), or E in its place (rows, 32 pairs of keys)
#include "kernels/cpu/isa/attention_bf16_tile.h"
#include "kernels/cpu/isa/flash_backward.h"
#include "kernels/cpu/isa/flash_pairs.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int64_t kRowPairs = kUnitRows / 2;

struct PairTiles {
  int64_t dim, padded, pairs;
  float *query, *grad_out, *key, *value, *key_rows;
  float *first, *second;
  float *query_rows, *grad_rows;  // pairs of neighbouring rows
  float *scores, *slopes, *turned_scores, *turned_slopes;
  [[maybe_unused]] PairProducts products = {};

  PairTiles(int64_t head_dim, float* scratch)
      : dim(head_dim), padded(padded_dim(head_dim)), pairs(padded_pairs(head_dim)) {
    float** const places[] = {&query, &grad_out, &key,        &value, &key_rows,
                              &first, &second,   &query_rows, &scores};
    for (float** place : places) {
      *place = scratch;
      scratch += kUnitRows * padded;
    }
    grad_rows = query_rows + kRowPairs * padded;
    slopes = scores + kUnitRows * kTileKeys;
    turned_scores = slopes + kUnitRows * kTileKeys;
    turned_slopes = turned_scores + kTileKeys * kRowPairs;
  }
  static const uint32_t* as_pairs(const float* at) { return reinterpret_cast<const uint32_t*>(at); }

  void load_keys(const FlashUnit& unit, int64_t begin, int64_t count) const {
    TileRows rows;
    find_rows(unit.keys, begin, begin + count, rows);
    load_key_pairs<uint16_t>(rows, kNoRows, dim, key);
    find_rows(exchanged(unit.keys), begin, begin + count, rows);
    load_key_pairs<uint16_t>(rows, kNoRows, dim, value);
    load_value_pairs<uint16_t>(rows, kNoRows, dim, padded, key_rows);
  }
  template <class Of>
  void load_both_ways(const FlashUnit& unit, float* by_dims, float* by_rows, Of&& of) const {
    TileRows rows;
    rows.count = unit.rows;
    for (int64_t r = 0; r < unit.rows; ++r) {
      const auto* src = static_cast<const uint16_t*>(of(unit.row[r]));
      for (int64_t k = 0; k < pairs; k += kLanes) store(by_dims + r * pairs + k, pairs_of(src, 2 * k, dim));
      rows.value[r] = reinterpret_cast<const std::byte*>(src);
    }
    clear_rows(by_dims, unit.rows, pairs);
    load_value_pairs<uint16_t>(rows, kNoRows, dim, padded, by_rows);
  }
  void load_rows(const FlashUnit& unit) const {
    load_both_ways(unit, query, query_rows, [](const FlashRow& row) { return row.query; });
    load_both_ways(unit, grad_out, grad_rows, [](const FlashRow& row) { return row.grad_out; });
  }
  void score(int64_t rows, int64_t count) const {
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes, depth = (dim + 1) / 2;
    const auto by = [&](const float* a, const float* b, float* c) {
      multiply_pairs(PairProduct{as_pairs(a), as_pairs(b), c, pairs, kTileKeys, kTileKeys, depth, false},
                     rows, columns);
    };
    by(query, key, scores);
    by(grad_out, value, slopes);
  }

  /// (rows, 64 keys) of float32 to (keys, 32 pairs of rows), zero past the last row as far as products read.
  static void turn(float* tile, int64_t rows, int64_t count, float* to) {
    const int64_t filled = (rows + 2 * kLanes - 1) / (2 * kLanes) * 2 * kLanes;
    __builtin_memset(tile + rows * kTileKeys, 0,
                     static_cast<size_t>((filled - rows) * kTileKeys) * sizeof(float));
    for (int64_t first_key = 0; first_key < count; first_key += kLanes)
      for (int64_t pair = 0; pair < filled / 2; pair += kLanes) {
        Vec block[kLanes];
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) {
          const float* row = tile + 2 * (pair + i) * kTileKeys + first_key;
          block[i] = interleaved(rounded(load(row), load(row + kTileKeys)));
        }
        transpose(block);
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) store(to + (first_key + i) * kRowPairs + pair, block[i]);
      }
  }
  void add_keys(int64_t rows, int64_t count) const {
    const auto add_to = [&](float* weights, float* turned, const float* of, float* sums) {
      turn(weights, rows, count, turned);
      const int64_t depth = (rows + 1) / 2;
      add_weighed(PairProduct{as_pairs(turned), as_pairs(of), sums, kRowPairs, padded, padded, depth, true},
                  count, padded, all_finite_pairs(of, depth * padded));
    };
    add_to(slopes, turned_slopes, query_rows, first);
    add_to(scores, turned_scores, grad_rows, second);
  }
  void add_queries(int64_t rows, int64_t count, float* sums) const {
    const auto part = [&](const float* row, int64_t column) {
      return column < count ? load(row + column) : set1(0.0F);
    };
    for (int64_t r = 0; r < filled_rows(rows); ++r) {
      float* row = slopes + r * kTileKeys;
      for (int64_t column = 0; column < kTileKeys; column += 2 * kLanes)
        store(row + column / 2,
              r < rows ? rounded(part(row, column), part(row, column + kLanes)) : set1(0.0F));
    }
    const int64_t depth = (count + 1) / 2;
    add_weighed(
        PairProduct{as_pairs(slopes), as_pairs(key_rows), sums, kTileKeys, padded, padded, depth, true}, rows,
        padded, all_finite_pairs(key_rows, depth * padded));
  }
};

using Gradients = FlashGradients<PairTiles>;

}  // namespace

const FlashBackwardTable kFlashBackward = {Gradients::first, Gradients::add, Gradients::last,
                                           Gradients::finish_queries, Gradients::queries};

}  // namespace orrery::kernels::ORRERY_ISA
