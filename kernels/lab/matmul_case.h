// Matmul of random matrices.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/matmul.h"

namespace orrery::kernels::lab {

class MatmulCase {
 public:
  using Op = Matmul;

  /// Args without their pointers; the strides say what a and b hold.
  explicit MatmulCase(const Matmul::Args& args, uint32_t seed = 11,
                      Distribution distribution = Distribution::normal);

  Call<Matmul> place(const Row<Matmul>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Matmul::Problem problem;

 private:
  Matmul::Args args_;
  std::vector<std::byte> a_, b_;
};

}  // namespace orrery::kernels::lab
