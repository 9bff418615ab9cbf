// Hann's window.
#pragma once

#include "kernels/hann.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class HannCase {
 public:
  using Op = Hann;

  HannCase(DType dtype, int64_t count, bool periodic) : problem{dtype}, count_(count), periodic_(periodic) {}

  Call<Hann> place(const Row<Hann>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Hann::Problem problem;

 private:
  int64_t count_;
  bool periodic_;
};

}  // namespace orrery::kernels::lab
