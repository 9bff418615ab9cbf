// Numbers put where others say.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/scatter.h"

namespace orrery::kernels::lab {

class ScatterCase {
 public:
  using Op = Scatter;

  /// dst (outer, count, inner), updates and indices (outer, steps, inner): a line for each outer and inner.
  ScatterCase(const Scatter::Problem& asked, int64_t outer, int64_t count, int64_t inner, int64_t steps,
              uint32_t seed = 13);

  Call<Scatter> place(const Row<Scatter>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Scatter::Problem problem;

 private:
  int64_t outer_, count_, inner_, steps_;
  std::vector<std::byte> before_, updates_, indices_;
};

}  // namespace orrery::kernels::lab
