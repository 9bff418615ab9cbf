// Padding of a tensor.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/pad.h"

namespace orrery::kernels::lab {

class PadCase {
 public:
  using Op = Pad;

  /// src holds elements of the type, of those sizes; before and after for each dim.
  PadCase(const Pad::Problem& asked, std::vector<int64_t> sizes, std::vector<int64_t> before,
          std::vector<int64_t> after, std::vector<std::byte> src, uint64_t value = 0);

  Call<Pad> place(const Row<Pad>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Pad::Problem problem;

 private:
  std::vector<int64_t> sizes_, before_, padded_;
  std::vector<std::byte> src_;
  uint64_t value_;
  int64_t elements_ = 1;  // of dst
};

}  // namespace orrery::kernels::lab
