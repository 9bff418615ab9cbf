// FlashAttention and its gradients with random inputs. Of long calls the oracle works out some rows only.
#pragma once

#include "kernels/flash_attention.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

/// Dims of a bias or a mask that are there; along the others it is the same for all.
struct ScoreDims {
  bool batch = true, head = true, query = true, key = true;
};

struct FlashShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, head_dim = 64;
  DType dtype = DType::f32;
  bool causal = false;
  int64_t window_left = -1, window_right = -1;
  float softcap = 0, scale = 0;  // scale 0: 1 / sqrt(head_dim)
  bool bias = false, mask = false, lengths = false;
  DType bias_type = DType::f32;
  ScoreDims bias_dims = {}, mask_dims = {};
  bool masking_bias = false;  // -infinity for a quarter of it
  bool turned = false;        // bias and mask lie with their queries side by side
  bool interleaved = false;   // tensors lie as (batch, tokens, heads, head_dim)
  int64_t gap = 0;            // elements between rows
  double p = 0;
  Precision precision = Precision::balanced;
  uint32_t seed = 1;  // of the inputs and of the dropout
};

/// A tensor (batch, heads, tokens, head_dim) as a call gives it.
struct HeadTensor {
  HeadTensor(const FlashShape& shape, int64_t heads, int64_t tokens);

  HeadStrides strides;
  int64_t elements = 0;
};

class FlashCase {
 public:
  using Op = FlashAttention;

  explicit FlashCase(const FlashShape& shape, Distribution distribution = Distribution::normal);

  Call<FlashAttention> place(const Row<FlashAttention>& row, Place& place) const;
  /// out and log_sum_exp.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  /// The arguments, with out and log_sum_exp in memory that holds what it is given.
  FlashAttention::Args put(Place& place, const std::vector<std::byte>& out,
                           const std::vector<float>& log_sum_exp) const;
  const FlashShape& shape() const { return shape_; }
  /// Pairs of query and key of all heads that causality, windows and lengths leave.
  double pairs() const;
  /// Every step-th row of so many is worked out.
  int64_t query_step() const;
  int64_t key_step() const;

  FlashAttention::Problem problem;

 private:
  std::vector<std::byte> tensor(int64_t heads, int64_t tokens, uint32_t number, float scale,
                                Distribution distribution) const;

  FlashShape shape_;
  std::vector<std::byte> query_, key_, value_, bias_;
  std::vector<uint8_t> mask_;
  std::vector<int32_t> query_lengths_, key_lengths_;
};

class FlashBackwardCase {
 public:
  using Op = FlashAttentionBackward;

  explicit FlashBackwardCase(const FlashShape& shape, Distribution distribution = Distribution::normal);

  Call<FlashAttentionBackward> place(const Row<FlashAttentionBackward>& row, Place& place) const;
  /// grad_query, grad_key, grad_value, and grad_bias where there is a bias.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  FlashAttentionBackward::Problem problem;

 private:
  FlashCase forward_;
  std::vector<std::byte> grad_out_, out_;
  std::vector<float> log_sum_exp_;
};

}  // namespace orrery::kernels::lab
