// DropoutNorm and its gradients with random inputs whose mean lies far from zero, which shows cancellation.
#pragma once

#include "kernels/dropout_norm.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

struct DropoutNormShape {
  Norm::Kind kind = Norm::Kind::layer;
  int64_t rows = 1, cols = 1;
  DType src = DType::f32, residual_type = DType::f32, x = DType::f32;
  bool residual = false;  // of the gradients: grad_residual_out
  bool bias = false, rowscale = false, colscale = false;
  double p = 0;
  bool in_place = false;   // residual_out is residual
  uint32_t seed = 1;       // of the inputs and of the mask
  bool quantised = false;  // out as 8-bit numbers too
  bool subset = false;     // some rows only: every third row has no src, every fourth no out
  bool src2 = false;       // a second source
  bool norm2 = false;      // a second norm, with a bias where the first has one
};

/// Which rows of src and out those of a subset are: each of src and out once, but for one that nobody names.
struct DropoutNormSubset {
  explicit DropoutNormSubset(const DropoutNormShape& shape);
  int64_t src_count() const { return static_cast<int64_t>(src_count_); }
  int64_t out_count() const { return static_cast<int64_t>(out_count_); }
  NormRows put(Place& place) const;

  std::vector<int32_t> src_rows, out_rows;  // empty: all

 private:
  size_t src_count_, out_count_;
};

/// The factors of both calls.
struct DropoutNormFactors {
  explicit DropoutNormFactors(const DropoutNormShape& shape);

  std::vector<float> weight, bias, weight2, bias2, rowscale, colscale;
};

class DropoutNormCase {
 public:
  using Op = DropoutNorm;

  explicit DropoutNormCase(const DropoutNormShape& shape, Distribution distribution = Distribution::normal);

  Call<DropoutNorm> place(const Row<DropoutNorm>& row, Place& place) const;
  /// out and residual_out, with `quantised` those numbers and the factors of the rows, with `norm2` out2.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  DropoutNorm::Problem problem;

 private:
  void expect_quantised(std::vector<Output>& outputs, std::vector<Expected>& expected) const;

  DropoutNormShape shape_;
  DropoutNormFactors factors_;
  DropoutNormSubset subset_;
  std::vector<std::byte> src_, src2_, residual_;
};

class DropoutNormBackwardCase {
 public:
  using Op = DropoutNormBackward;

  explicit DropoutNormBackwardCase(const DropoutNormShape& shape,
                                   Distribution distribution = Distribution::normal);

  Call<DropoutNormBackward> place(const Row<DropoutNormBackward>& row, Place& place) const;
  /// grad_src, grad_residual, grad_weight, grad_bias, grad_colscale where there is a colscale, grad_src2
  /// where there is a second source, grad_weight2 and grad_bias2 where there is a second norm.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  DropoutNormBackward::Problem problem;

 private:
  double steepest() const;

  DropoutNormShape shape_;
  DropoutNormFactors factors_;
  DropoutNormSubset subset_;
  std::vector<std::byte> grad_out_, grad_out2_, grad_residual_out_, x_, src_;
};

}  // namespace orrery::kernels::lab
