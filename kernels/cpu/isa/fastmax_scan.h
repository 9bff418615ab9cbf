// What fastmax_scan.cpp offers, built once per ISA: one kv head of a run of tokens (kernels/fastmax_scan.h
// has the formulas). The row in cpu/fastmax_scan.cpp splits the work over the team and calls these on each
// thread's share.
#pragma once

#include <cstdint>

namespace orrery::kernels {

/// Queries and keys of one kv head made ready, and its counts z taken through the tokens.
struct FastmaxCountRun {
  const float* query;  // (tokens, group, head_dim), tokens query_stride apart
  const float* key;    // (tokens, head_dim), key_stride apart
  float* queries;  // out: (tokens, group, padded), tokens queries_stride apart: scaled, zeros behind head_dim
  float* keys;     // out: (tokens, padded), keys_stride apart: the same
  float* inverse;  // out: (tokens, group), tokens inverse_stride apart: 1 / the divisor, or 0
  const float* before;  // z; null: zeros
  float* after;
  int64_t query_stride, key_stride, queries_stride, keys_stride, inverse_stride;
  int64_t head_dim, padded, features, group, tokens;
  int p;
  bool normalise;
  float query_factor;  // limit^2 where it normalises, else scale
  float shortest, longest;
};

/// The sums S of some columns taken through the tokens, and these columns of dst.
struct FastmaxColumnRun {
  static constexpr int64_t kTokens = 32;  // whose results stay in cache while S passes by
  const float* queries;                   // those of above
  const float* keys;
  const float* inverse;
  const float* value;   // (tokens, columns), value_stride apart
  float* dst;           // (tokens, group, columns), tokens dst_stride and heads head_dim apart
  const float* before;  // S, rows head_dim apart; null: zeros
  float* after;
  float* scratch;  // kTokens * group * columns_at_once floats
  int64_t queries_stride, keys_stride, inverse_stride, value_stride, dst_stride;
  int64_t head_dim, padded, features, group, tokens, columns;
  int p;
};

struct FastmaxScanTable {
  int64_t columns_at_once;  // most columns of a FastmaxColumnRun
  void (*count)(const FastmaxCountRun& run);
  void (*columns)(const FastmaxColumnRun& run);
};

namespace avx2 {
extern const FastmaxScanTable kFastmaxScan;
}
namespace avx512 {
extern const FastmaxScanTable kFastmaxScan;
}

}  // namespace orrery::kernels
