// Random boxes of which many overlap.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/suppression.h"

namespace orrery::kernels::lab {

class SuppressionCase {
 public:
  using Op = Suppression;

  /// Scores are one of `kinds` numbers, so that some are equal; 0: any.
  explicit SuppressionCase(const Suppression::Problem& asked, uint32_t seed = 19, int64_t kinds = 0,
                           Distribution distribution = Distribution::normal);

  Call<Suppression> place(const Row<Suppression>& row, Place& place) const;
  /// To the number.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Suppression::Problem problem;

 private:
  std::vector<float> boxes_, scores_;
};

}  // namespace orrery::kernels::lab
