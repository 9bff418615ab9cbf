// What flash_attention*.cpp offer, built once per ISA: attention and its gradients of up to kUnitRows queries
// that read the keys of one head (kernels/flash_attention.h). cpu/flash_attention.cpp says which rows and
// keys are taken together, by the sizes of a call alone; the tiles are those of attention.h.
#pragma once

#include "kernels/cpu/isa/attention.h"
#include "kernels/cpu/isa/dropout_row.h"

namespace orrery::kernels {

/// One query of one head. Elements are of the type of the unit's keys.
struct FlashRow {
  const void* query;
  void* out;            // of the gradients: grad_query
  const void* bias;     // of key 0, as mask and grad_bias; null: none
  const uint8_t* mask;  // null: none
  int64_t low, high;    // keys [low, high) that causality, windows and lengths leave; 0, 0: none
  int64_t number;       // that the mask of the dropout is drawn by
  // Of the gradients only.
  const void* grad_out;
  float* grad_bias;        // null: not wanted
  float log_sum_exp, dot;  // dot: grad_out . out
};

struct FlashUnit {
  const FlashRow* row;
  int64_t rows, head_dim;
  KeySource keys;                // packed
  KvFormat bias;                 // how it is stored
  int64_t bias_step, mask_step;  // from key to key, in elements
  float scale, softcap;          // softcap 0: none
  DropoutRow dropout;            // but row and factors
};

struct FlashTable {
  /// out of the unit's rows over keys [begin, end), with `state` as it is at the end.
  /// scratch: attention_scratch_floats
  void (*forward)(const FlashUnit& unit, int64_t begin, int64_t end, float* scratch,
                  const AttentionState& state);
};

/// Floats of scratch that the gradients need: query, grad_out, key, value, the keys once more by rows, two
/// tiles of results, two of scores; in bf16 one for rows in another order and one for turned scores.
[[gnu::always_inline]] constexpr int64_t flash_backward_floats(int64_t head_dim) {
  return 8 * kUnitRows * padded_dim(head_dim) + 3 * kUnitRows * kTileKeys;
}

/// The gradients of up to kTileKeys keys, [begin, begin + count), that all rows of their head add to: first,
/// then add for each unit, then last, with the same scratch; and those of the units' queries beside them, or
/// on their own.
struct FlashBackwardTable {
  void (*first)(const FlashUnit& unit, int64_t begin, int64_t count, float* scratch);
  /// query_sums: kUnitRows rows of padded head_dim, to which what these keys give the queries is added; null:
  /// not wanted.
  void (*add)(const FlashUnit& unit, int64_t begin, int64_t count, float* scratch, float* query_sums);
  /// Rows of head_dim elements without gaps; null: not wanted.
  void (*last)(const FlashUnit& unit, int64_t count, float* scratch, void* grad_key, void* grad_value);
  /// grad_query of the unit's rows
  void (*finish_queries)(const FlashUnit& unit, const float* query_sums);
  /// The same, and grad_bias, over all keys [begin, end): whole tiles, or up to the last key.
  void (*queries)(const FlashUnit& unit, int64_t begin, int64_t end, float* scratch);
};

namespace avx2 {
extern const FlashTable kFlash;
extern const FlashBackwardTable kFlashBackward;
}  // namespace avx2
namespace avx512 {
extern const FlashTable kFlash;
extern const FlashBackwardTable kFlashBackward;
}  // namespace avx512
namespace avx512_bf16 {
extern const FlashTable kFlash;  // of bf16
extern const FlashBackwardTable kFlashBackward;
}  // namespace avx512_bf16
namespace amx_bf16 {
extern const FlashTable kFlash;  // of bf16
extern const FlashBackwardTable kFlashBackward;
}  // namespace amx_bf16

}  // namespace orrery::kernels
