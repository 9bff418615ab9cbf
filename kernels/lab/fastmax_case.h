// Fastmax and its gradients with random operands: tensors without gaps, or (interleaved) as packed rows of
// all heads lie, batch, token, head.
#pragma once

#include "kernels/fastmax.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

struct FastmaxShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, dim = 64;
  DType dtype = DType::f32;
  int p = 2;
  bool causal = false, normalise = true, rpe = false;
  Fastmax::Dropping dropping = Fastmax::Dropping::none;
  bool noise = false;  // is given
  double rate = 0;
  float a0 = 1.0F, a1 = 1.0F, a2 = 0.5F, limit = 1.0F, temperature = 1.0F;
  float size = 1.0F;  // of the elements of query and key
  bool interleaved = false;
  uint32_t seed = 1;
};

/// Operands of both calls, and what is common to them.
struct FastmaxOperands {
  FastmaxOperands(const FastmaxShape& shape, Distribution distribution);

  Fastmax::Args place(Place& place) const;
  /// Strides of a tensor whose tokens are `tokens` and heads `heads`.
  HeadStrides strides(int64_t heads, int64_t tokens) const;

  FastmaxShape shape;
  Fastmax::Problem problem;
  std::vector<std::byte> query, key, value, rpe, noise, grad_out;
};

class FastmaxCase {
 public:
  using Op = Fastmax;

  explicit FastmaxCase(const FastmaxShape& shape, Distribution distribution = Distribution::normal);

  Call<Fastmax> place(const Row<Fastmax>& row, Place& place) const;
  /// out; of long texts some of its rows, each by itself.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Fastmax::Problem problem;

 private:
  std::vector<float> row_of(int64_t row) const;

  FastmaxOperands operands_;
  std::vector<int64_t> checked_;  // rows of (batch, heads, queries); empty: all
};

class FastmaxBackwardCase {
 public:
  using Op = FastmaxBackward;

  explicit FastmaxBackwardCase(const FastmaxShape& shape, Distribution distribution = Distribution::normal);

  Call<FastmaxBackward> place(const Row<FastmaxBackward>& row, Place& place) const;
  /// grad_query, grad_key, grad_value, and grad_rpe where there is rpe.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  FastmaxBackward::Problem problem;

 private:
  FastmaxOperands operands_;
};

}  // namespace orrery::kernels::lab
