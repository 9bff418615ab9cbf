// Recurrences along one dim.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/recurrence.h"

namespace orrery::kernels::lab {

class RecurrenceCase {
 public:
  using Op = Recurrence;

  /// Factors are between -1 and 1.
  RecurrenceCase(DType dtype, int64_t outer, int64_t count, int64_t inner, bool reverse = false,
                 uint32_t seed = 23);

  Call<Recurrence> place(const Row<Recurrence>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Recurrence::Problem problem;

 private:
  int64_t outer_, count_, inner_;
  bool reverse_;
  std::vector<std::byte> factor_, src_;
};

}  // namespace orrery::kernels::lab
