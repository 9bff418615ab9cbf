// Reductions over one dim.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/reduce.h"

namespace orrery::kernels::lab {

class ReduceCase {
 public:
  using Op = Reduce;

  /// src holds elements of the problem's type, (outer, count, inner).
  ReduceCase(const Reduce::Problem& asked, int64_t outer, int64_t count, int64_t inner,
             std::vector<std::byte> src)
      : problem(asked), outer_(outer), count_(count), inner_(inner), src_(std::move(src)) {}

  Call<Reduce> place(const Row<Reduce>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Reduce::Problem problem;

 private:
  int64_t outer_, count_, inner_;
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
