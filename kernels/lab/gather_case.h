// Gather of rows by index, or of sequences.
#pragma once

#include "kernels/gather.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class GatherCase {
 public:
  using Op = Gather;

  /// src (rows, cols); index and starts as Gather::Args has them, whichever the kind reads.
  GatherCase(const Gather::Problem& asked, std::vector<float> src, std::vector<int32_t> index,
             std::vector<int32_t> starts);

  Call<Gather> place(const Row<Gather>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Gather::Problem problem;

 private:
  int64_t count() const;

  std::vector<float> src_;
  std::vector<int32_t> index_, starts_;
};

}  // namespace orrery::kernels::lab
