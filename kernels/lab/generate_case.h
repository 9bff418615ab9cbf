// Elements that follow from their place.
#pragma once

#include "kernels/generate.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class GenerateCase {
 public:
  using Op = Generate;

  GenerateCase(const Generate::Problem& asked, int64_t count) : problem(asked), count_(count) {}

  Call<Generate> place(const Row<Generate>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Generate::Problem problem;
  double a = 0, b = 1;
  int64_t first = 0, stride = 1;
  uint64_t seed = 0;

 private:
  int64_t count_;
};

}  // namespace orrery::kernels::lab
