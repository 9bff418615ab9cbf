// Norm with random inputs whose mean lies far from zero, which shows cancellation.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/norm.h"

namespace orrery::kernels::lab {

struct NormShape {
  Norm::Kind kind = Norm::Kind::rms;
  bool residual = false, bias = false;
  int64_t tokens = 1, cols = 1, weight_rows = 1;
  bool in_place = false;  // sum is src
};

class NormCase {
 public:
  using Op = Norm;

  explicit NormCase(const NormShape& shape, Distribution distribution = Distribution::normal,
                    uint32_t seed = 1);

  Call<Norm> place(const Row<Norm>& row, Place& place) const;
  /// dst, and sum where there is a residual.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Norm::Problem problem;

 private:
  NormShape shape_;
  std::vector<float> src_, residual_, weight_, bias_;
};

}  // namespace orrery::kernels::lab
