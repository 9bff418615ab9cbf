// Norm over groups of channels.
#pragma once

#include "kernels/group_norm.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class GroupNormCase {
 public:
  using Op = GroupNorm;

  /// src holds elements of the type, (batch, channels, inner).
  GroupNormCase(DType dtype, int64_t batch, int64_t channels, int64_t inner, int64_t groups,
                std::vector<std::byte> src)
      : problem{dtype},
        batch_(batch),
        channels_(channels),
        inner_(inner),
        groups_(groups),
        src_(std::move(src)) {}

  Call<GroupNorm> place(const Row<GroupNorm>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  GroupNorm::Problem problem;
  bool scaled = true;  // with weight and bias
  bool in_place = false;

 private:
  int64_t batch_, channels_, inner_, groups_;
  std::vector<std::byte> src_;
};

}  // namespace orrery::kernels::lab
