// The ladder's product of random matrices.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/matmul_ladder.h"

namespace orrery::kernels::lab {

class MatmulLadderCase {
 public:
  using Op = MatmulLadder;

  explicit MatmulLadderCase(const MatmulLadder::Problem& problem, uint32_t seed = 11,
                            Distribution distribution = Distribution::normal);

  Call<MatmulLadder> place(const Row<MatmulLadder>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  MatmulLadder::Problem problem;
  /// Products that the oracle makes; where there are more, rows of c are looked at that lie far apart.
  int64_t most_products = int64_t{1} << 31;

 private:
  std::vector<int64_t> checked() const;

  std::vector<std::byte> a_, b_;
};

}  // namespace orrery::kernels::lab
