// What is marked in a tensor.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/nonzero.h"

namespace orrery::kernels::lab {

class NonzeroCase {
 public:
  using Op = Nonzero;

  /// mask holds elements of problem.mask, of those sizes. Of put src has as many of problem.dtype, and values
  /// `capacity`.
  NonzeroCase(const Nonzero::Problem& asked, std::vector<int64_t> sizes, int64_t capacity,
              std::vector<std::byte> mask, std::vector<std::byte> src = {},
              std::vector<std::byte> values = {});

  Call<Nonzero> place(const Row<Nonzero>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Nonzero::Problem problem;
  bool in_place = false;

 private:
  std::vector<int64_t> sizes_;
  int64_t capacity_;
  std::vector<std::byte> mask_, src_, values_;
};

}  // namespace orrery::kernels::lab
