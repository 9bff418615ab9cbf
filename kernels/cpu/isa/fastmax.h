// What fastmax.cpp offers, built once per ISA: products of small matrices in float32, and what lies between
// them. A chunk is kFastmaxChunk tokens; most operands have the tokens in their columns, so that what is done
// to each token is done to a vector of them.
#pragma once

#include <cstdint>

namespace orrery::kernels {

static constexpr int64_t kFastmaxChunk = 64;
/// Columns are padded to a multiple of it.
static constexpr int64_t kFastmaxPad = 16;

/// c (rows, cols) += a (rows, depth) b (depth, cols). Element (i, k) of a lies at i * a_row + k * a_col, so a
/// may be read across; rows of b and of c have no gaps inside; cols is a multiple of kFastmaxPad.
struct FastmaxProduct {
  const float* a;
  int64_t a_row, a_col;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  int64_t rows, depth, cols;
};

/// Weights of scores: a0 + a1 s + a2 s^2.
struct FastmaxCurve {
  float a0, a1, a2;
};

/// Which features of a chunk stay: what kernels/dropout.h draws, of its tokens' rows in two words.
struct FastmaxMask {
  uint64_t seed = 0;
  uint32_t stream = 0, most = 0;
  float kept = 1;
  uint32_t low[kFastmaxChunk] = {}, high[kFastmaxChunk] = {};
};

struct FastmaxTable {
  void (*multiply)(const FastmaxProduct& product);
  /// to (cols, kFastmaxChunk) = from (kFastmaxChunk, cols), whose rows are `stride` apart; cols is a multiple
  /// of kFastmaxPad.
  void (*transpose)(const float* from, int64_t stride, int64_t cols, float* to);
  /// Each score becomes its weight; count is a multiple of kFastmaxPad, as below.
  void (*weigh)(float* scores, int64_t count, const FastmaxCurve& curve);
  /// Each score becomes the slope of its weight times `by`.
  void (*slope)(float* scores, const float* by, int64_t count, const FastmaxCurve& curve);
  /// to = factor a b of one chunk.
  void (*feature)(const float* a, const float* b, float factor, float* to);
  /// to += factor a b of one chunk.
  void (*add_feature)(const float* a, const float* b, float factor, float* to);
  /// Columns [4 group, 4 group + 4) of the mask: to[k], of one chunk, is multiplied by `kept` or becomes 0;
  /// null where that column is not wanted.
  void (*mask)(const FastmaxMask& mask, int64_t group, float* const (&to)[4]);
};

namespace avx2 {
extern const FastmaxTable kFastmaxProducts;
}
namespace avx512 {
extern const FastmaxTable kFastmaxProducts;
}

}  // namespace orrery::kernels
