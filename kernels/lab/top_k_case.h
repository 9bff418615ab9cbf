// The first elements of rows.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/top_k.h"

namespace orrery::kernels::lab {

class TopKCase {
 public:
  using Op = TopK;

  /// src holds elements of the problem's type, (outer, count, inner), which say what the problem's rows and
  /// count are.
  TopKCase(const TopK::Problem& asked, int64_t outer, int64_t count, int64_t inner,
           std::vector<std::byte> src);

  Call<TopK> place(const Row<TopK>& row, Place& place) const;
  /// Values and indices, to the number; indices alone where no values are wanted.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  TopK::Problem problem;
  bool values_wanted = true;

 private:
  int64_t found() const { return outer_ * taken(problem, count_) * inner_; }

  int64_t outer_, count_, inner_;
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
