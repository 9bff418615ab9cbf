// Elements that stay by their place.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/mask.h"

namespace orrery::kernels::lab {

class MaskCase {
 public:
  using Op = Mask;

  /// src holds elements of the type, (rows, cols).
  MaskCase(const Mask::Problem& asked, int64_t rows, int64_t cols, std::vector<std::byte> src)
      : problem(asked), height(rows), rows_(rows), cols_(cols), src_(std::move(src)) {}

  Call<Mask> place(const Row<Mask>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Mask::Problem problem;
  int64_t height, lower = -1, upper = -1;
  bool exclude = false, in_place = false;
  Dropout dropout = {};

 private:
  int64_t rows_, cols_;
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
