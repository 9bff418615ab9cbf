// Softmax over an axis.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/softmax.h"

namespace orrery::kernels::lab {

class SoftmaxCase {
 public:
  using Op = Softmax;

  /// src holds elements of the type, (outer, count, inner).
  SoftmaxCase(DType dtype, int64_t outer, int64_t count, int64_t inner, std::vector<std::byte> src)
      : problem{dtype, inner == 1}, outer_(outer), count_(count), inner_(inner), src_(std::move(src)) {}

  Call<Softmax> place(const Row<Softmax>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Softmax::Problem problem;
  bool in_place = false;

 private:
  int64_t outer_, count_, inner_;
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
