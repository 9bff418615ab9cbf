// Gradients of attention over whole tensors in float32, of any stored type: flash_backward.h has the
// formulas.
//   layout: K^T and V^T (head_dim, 64), all else rows of padded head_dim or of 64 scores
#include "kernels/cpu/isa/attention_tile.h"
#include "kernels/cpu/isa/flash_backward.h"
#include "kernels/cpu/isa/flash_product.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

struct FloatTiles {
  int64_t dim, padded;
  float *query, *grad_out, *key, *value, *key_rows;  // key and value transposed
  float *first, *second, *scores, *slopes;

  FloatTiles(int64_t head_dim, float* scratch) : dim(head_dim), padded(padded_dim(head_dim)) {
    float** const places[] = {&query, &grad_out, &key, &value, &key_rows, &first, &second, &scores};
    for (float** place : places) {
      *place = scratch;
      scratch += kUnitRows * padded;
    }
    slopes = scores + kUnitRows * kTileKeys;
  }

  void load_keys(const FlashUnit& unit, int64_t begin, int64_t count) const {
    const auto transpose_to = [&](const KeySource& keys, float* to) {
      TileRows rows;
      find_rows(keys, begin, begin + count, rows);
      with_format(
          keys.format, [&]<KvFormat kFormat>() __attribute__((always_inline)) {
            ORRERY_ISA::load_keys<kFormat>(rows, kNoRows, dim, to);
          });
    };
    transpose_to(unit.keys, key);
    transpose_to(exchanged(unit.keys), value);
    TileRows rows;
    find_rows(exchanged(unit.keys), begin, begin + count, rows);
    with_format(
        unit.keys.format, [&]<KvFormat kFormat>() __attribute__((always_inline)) {
          load_values<kFormat>(rows, kNoRows, dim, padded, key_rows);
        });
  }
  void load_rows(const FlashUnit& unit) const {
    load_unit_rows(unit, 1.0F, query, padded, [](const FlashRow& row) { return row.query; });
    load_unit_rows(unit, 1.0F, grad_out, padded, [](const FlashRow& row) { return row.grad_out; });
  }
  void score(int64_t rows, int64_t count) const {
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    multiply(Product<Floats>{query, key, scores, padded, kTileKeys, kTileKeys, dim, false}, rows, columns);
    multiply(Product<Floats>{grad_out, value, slopes, padded, kTileKeys, kTileKeys, dim, false}, rows,
             columns);
  }
  void add_keys(int64_t rows, int64_t count) const {
    const auto add_to = [&](const float* weights, const float* of, float* sums) {
      add_weighed({weights, of, sums, 1, padded, padded, rows, true, kTileKeys}, count, padded,
                  all_finite(of, rows * padded));
    };
    add_to(slopes, query, first);
    add_to(scores, grad_out, second);
  }
  void add_queries(int64_t rows, int64_t count, float* sums) const {
    add_weighed({slopes, key_rows, sums, kTileKeys, padded, padded, count, true}, rows, padded,
                all_finite(key_rows, count * padded));
  }
};

using Gradients = FlashGradients<FloatTiles>;

}  // namespace

const FlashBackwardTable kFlashBackward = {Gradients::first, Gradients::add, Gradients::last,
                                           Gradients::finish_queries, Gradients::queries};

}  // namespace orrery::kernels::ORRERY_ISA
