// Combine of random elements.
#pragma once

#include "kernels/combine.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class CombineCase {
 public:
  using Op = Combine;

  /// Strides of a, b and condition say what they hold; dst lies without gaps, whatever the walk says of it.
  CombineCase(const Combine::Problem& asked, const Walk<4>& walk, uint32_t seed = 7,
              Distribution distribution = Distribution::normal);

  Call<Combine> place(const Row<Combine>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Combine::Problem problem;

 private:
  Walk<4> walk_;
  std::vector<std::byte> a_, b_, condition_;
};

}  // namespace orrery::kernels::lab
