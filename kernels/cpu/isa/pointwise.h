// What pointwise.cpp, rope.cpp and reduce.cpp offer, built once per ISA: plain structs and tables of
// functions. The rows in cpu/ split the work over the team and call these on each thread's share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/activation.h"
#include "kernels/dtype.h"

namespace orrery::kernels {

/// Same order as Elementwise::Function.
enum class PointFunction : uint8_t {
#define ORRERY_ACTIVATION(name, flops) name,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
#define ORRERY_ACTIVATION(name, flops) name##_mul,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
  add,
  mul,
  scale
};
enum class KvFormat : uint8_t { f32, f16, bf16, q8_0 };

/// Of keys and values: f32, f16, bf16 or q8_0.
static constexpr KvFormat kv_format(DType dtype) {
  if (dtype == DType::f16) return KvFormat::f16;
  if (dtype == DType::q8_0) return KvFormat::q8_0;
  return dtype == DType::bf16 ? KvFormat::bf16 : KvFormat::f32;
}

/// One row of a norm; residual, sum and bias may be null.
struct NormRow {
  const float* src;
  const float* residual;
  float* sum;
  float* dst;
  const float* weight;
  const float* bias;
  int64_t cols;
  float eps;
};

struct RopeToken {
  const float* src;
  float* dst;
  const float* cosine;  // (rope_dims / 2), or (rope_dims) with each value twice for interleaved pairs
  const float* sine;
  int64_t heads, head_dim, rope_dims;
};

struct PointwiseTable {
  void (*rms_norm)(const NormRow& row);
  void (*layer_norm)(const NormRow& row);
  /// dst = f(a, b) on n contiguous elements; b and factor where f has them. dst may be a or b.
  void (*apply)(PointFunction function, const float* a, const float* b, float* dst, int64_t n, float factor);
  void (*softmax)(const float* src, float* dst, int64_t cols);
  void (*l2_normalise)(const float* src, float* dst, int64_t cols);
  /// dst = src as f32, f16 or bf16 (nearest even), or q8_0 as quantise_row does (n is a multiple of 32).
  void (*narrow)(KvFormat to, const float* src, void* dst, int64_t n);
};

struct RopeTable {
  /// cosine and sine of 2 pi * position * turns[i] for i < pairs, position any; each written `copies` (1 or
  /// 2) times.
  void (*angles)(const double* turns, double position, int64_t pairs, int copies, float* cosine, float* sine);
  void (*rotate_interleaved)(const RopeToken& token);
  void (*rotate_half)(const RopeToken& token);
};

/// A token as one number, smaller for the better one: the float's bits in inverted order, then the id.
using RankKey = uint64_t;

/// Reductions of one row of logits, NaN as -infinity and +infinity as the largest float.
struct ReduceTable {
  static constexpr int64_t kBlock = 128;
  /// maxima[b] = the largest of block b (the last one is ragged); returns the largest of all.
  float (*block_maxima)(const float* logits, int64_t n, float* maxima);
  /// The lowest id whose logit is `wanted`, -1 when there is none.
  int32_t (*find)(const float* logits, int64_t n, float wanted);
  /// Sum of e^((logit - largest) * inverse_temperature) in float64.
  double (*sum_exp)(const float* logits, int64_t n, float largest, float inverse_temperature);
  /// Keys of all logits >= threshold, in id order; returns their number.
  int64_t (*collect)(const float* logits, int64_t n, float threshold, RankKey* keys);
};

namespace avx2 {
extern const PointwiseTable kPointwise;
extern const RopeTable kRope;
extern const ReduceTable kReduce;
}  // namespace avx2
namespace avx512 {
extern const PointwiseTable kPointwise;
extern const RopeTable kRope;
extern const ReduceTable kReduce;
}  // namespace avx512

}  // namespace orrery::kernels
