// Sums of random windows.
#pragma once

#include "kernels/fold.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class FoldCase {
 public:
  using Op = Fold;

  explicit FoldCase(const Fold::Problem& asked, uint32_t seed = 23,
                    Distribution distribution = Distribution::normal);

  Call<Fold> place(const Row<Fold>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Fold::Problem problem;

 private:
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
