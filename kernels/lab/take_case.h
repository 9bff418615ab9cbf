// Elements found by numbers.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/take.h"

namespace orrery::kernels::lab {

class TakeCase {
 public:
  using Op = Take;

  /// src (outer, sizes.., inner) of random elements; `places` random indices, a few of which are outside.
  TakeCase(const Take::Problem& asked, int64_t outer, std::vector<int64_t> sizes, int64_t inner,
           int64_t places, uint32_t seed = 11);

  Call<Take> place(const Row<Take>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Take::Problem problem;

 private:
  int64_t outer_, inner_, places_;
  std::vector<int64_t> sizes_;
  std::vector<std::byte> src_, indices_;
};

/// Numbers of i32 or i64 from -limits to a little over limits, each limit in turn.
std::vector<std::byte> random_indices(DType dtype, size_t count, const std::vector<int64_t>& limits,
                                      uint32_t seed);

}  // namespace orrery::kernels::lab
