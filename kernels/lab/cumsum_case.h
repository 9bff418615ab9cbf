// Cumulative sums along one dim.
#pragma once

#include "kernels/cumsum.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class CumsumCase {
 public:
  using Op = Cumsum;

  /// src holds elements of the type, (outer, count, inner).
  CumsumCase(DType dtype, int64_t outer, int64_t count, int64_t inner, std::vector<std::byte> src)
      : problem{dtype}, outer_(outer), count_(count), inner_(inner), src_(std::move(src)) {}

  Call<Cumsum> place(const Row<Cumsum>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Cumsum::Problem problem;
  bool exclusive = false, reverse = false, in_place = false;

 private:
  int64_t outer_, count_, inner_;
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
