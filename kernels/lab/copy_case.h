// Copy of random elements, gaps between the written ones included.
#pragma once

#include "kernels/copy.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class CopyCase {
 public:
  using Op = Copy;

  /// The walk's sizes and strides (of src, of dst) say what both operands hold.
  CopyCase(DType from, DType to, const Walk<2>& walk, uint32_t seed = 3,
           Distribution distribution = Distribution::normal);

  Call<Copy> place(const Row<Copy>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Copy::Problem problem;

 private:
  Walk<2> walk_;
  std::vector<std::byte> src_, dst_;
};

/// Elements that an operand of a walk spans.
template <int kOperands>
int64_t span_of(const Walk<kOperands>& walk, int operand) {
  int64_t last = 0;
  for (int d = 0; d < walk.rank; ++d) {
    if (walk.sizes[d] == 0) return 0;
    last += (walk.sizes[d] - 1) * walk.strides[operand][d];
  }
  return last + 1;
}

}  // namespace orrery::kernels::lab
