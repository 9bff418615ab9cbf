// What attention.cpp offers, built once per ISA: attention of one unit of work, in chunks of keys whose
// results are merged in order. cpu/attention.cpp decides who computes what; that never changes a result:
//   - a unit is up to kUnitRows rows of one sequence and kv head; a row is one query head of one token
//   - keys are cut at multiples of kChunkKeys and kTileKeys of their position, whatever the unit is
//   - rows of a unit share loads of keys and values, and no arithmetic
//   - only a step that brings very few rows to a sequence (decode) sums its scores in another order, see
//     attention_few.h
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa/pointwise.h"

namespace orrery::kernels {

/// A tile of keys is transposed once for so many rows: 7 % of the arithmetic.
constexpr int64_t kUnitRows = 64;
/// Scores of one row in four AVX-512 registers; key and value tiles of 16 KB at head_dim 64.
constexpr int64_t kTileKeys = 64;
/// The grain of splitting one long sequence; a merge costs 2 % of a chunk.
constexpr int64_t kChunkKeys = 256;

/// Where keys and values of one sequence and one kv head lie. Rows are head_dim elements of `format`.
struct KeySource {
  const std::byte* key;  // paged: of page 0; packed: of position 0
  const std::byte* value;
  const int32_t* pages;  // the sequence's page table, null when packed
  size_t page_stride;    // bytes
  int64_t page_tokens;
  size_t key_stride;  // bytes between positions, inside a page or packed
  size_t value_stride;
  KvFormat format;
};

/// How scores of Fastmax become weights, with the bounds of scores and lengths (Attention::Fastmax).
struct FastmaxTerms {
  int32_t p;
  bool normalise;
  float limit;
  float largest_score, shortest, longest;
};

/// Row r is head (first_row + r) % group of token (first_row + r) / group.
struct AttentionUnit {
  const float* query;  // first token of the step, first of the kv head's query heads; heads are head_dim
                       // apart; stored as packed keys are
  float* dst;          // the same place in dst; where it is rounded, of bf16
  int64_t query_stride, dst_stride;
  int64_t first_row, rows, group, head_dim;
  int64_t step_rows;       // of the whole step of the sequence: very few take another way
  int64_t first_position;  // of the step's first token
  int64_t length;          // keys of the sequence
  int64_t window;          // 0: none
  bool causal;
  bool rounded;  // dst is stored as bf16: only what computes in it writes it
  float scale, softcap;
  const float* bias;  // of distance 0 for the kv head's first query head, the next ones' behind it; or null
  int64_t bias_reach;
  FastmaxTerms fastmax;  // of that kind
  KeySource keys;
};

/// Behind the last key that a query at `position` sees. Always inlined, as those below.
[[gnu::always_inline]] constexpr int64_t visible_end(const AttentionUnit& unit, int64_t position) {
  const int64_t window = unit.window > 0 ? unit.window : unit.length;
  const int64_t end = position + (unit.causal ? 1 : window);
  return end < unit.length ? end : unit.length;
}

/// Of each row: the sum of weights and the weighted sum of values; of a running softmax, whose weights are
/// e^(score - largest), the largest score too.
struct AttentionState {
  float* largest;  // (kUnitRows)
  float* sum;      // (kUnitRows)
  float* total;    // (kUnitRows, padded head_dim)
};

// Always inlined, so that no copy built for one ISA is left to the linker.

/// Floats of one row of total, and of a row of the value tile: whole vectors of any ISA.
[[gnu::always_inline]] constexpr int64_t padded_dim(int64_t head_dim) { return (head_dim + 15) / 16 * 16; }

/// Floats that `chunk` needs at `scratch`: query rows, transposed keys, values, scores.
[[gnu::always_inline]] constexpr int64_t attention_scratch_floats(int64_t head_dim) {
  return (kUnitRows + 2 * kTileKeys) * padded_dim(head_dim) + kUnitRows * kTileKeys;
}
[[gnu::always_inline]] constexpr int64_t attention_state_floats(int64_t head_dim) {
  return kUnitRows * (padded_dim(head_dim) + 2);
}

struct AttentionTable {
  /// state = the unit's rows over keys [begin, end), which lie in one chunk.
  void (*chunk)(const AttentionUnit& unit, int64_t begin, int64_t end, float* scratch,
                const AttentionState& state);
  /// into = into followed by next
  void (*merge)(int64_t rows, int64_t head_dim, const AttentionState& into, const AttentionState& next);
  /// dst = total / sum; zeros for rows that saw no key
  void (*finish)(const AttentionUnit& unit, const AttentionState& state);
};

namespace avx2 {
extern const AttentionTable kAttention, kFastmax;
}
namespace avx512 {
extern const AttentionTable kAttention, kFastmax;
}
namespace avx512_bf16 {
extern const AttentionTable kAttention;  // of packed keys
}
namespace amx_bf16 {
extern const AttentionTable kAttention;  // of packed keys
}

}  // namespace orrery::kernels
