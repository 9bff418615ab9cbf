// Convolutions of random images. Of large ones the oracle works out some rows only.
#pragma once

#include "kernels/convolution.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class SpatialConvolutionCase {
 public:
  using Op = Convolution;

  explicit SpatialConvolutionCase(const Convolution::Problem& asked, bool biased = true, uint32_t seed = 11,
                                  Distribution distribution = Distribution::normal);

  Call<Convolution> place(const Row<Convolution>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Convolution::Problem problem;

 private:
  int64_t row_step() const;

  std::vector<std::byte> src_, weight_, bias_;
};

}  // namespace orrery::kernels::lab
