// Resizes of random planes.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/resize.h"

namespace orrery::kernels::lab {

class ResizeCase {
 public:
  using Op = Resize;

  explicit ResizeCase(const Resize::Problem& asked, uint32_t seed = 13,
                      Distribution distribution = Distribution::normal);

  Call<Resize> place(const Row<Resize>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Resize::Problem problem;

 private:
  std::vector<std::byte> src_;
};

class ResizeBackwardCase {
 public:
  using Op = ResizeBackward;

  explicit ResizeBackwardCase(const Resize::Problem& asked, uint32_t seed = 7,
                              Distribution distribution = Distribution::normal);

  Call<ResizeBackward> place(const Row<ResizeBackward>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Resize::Problem problem;

 private:
  std::vector<std::byte> grad_dst_;
};

}  // namespace orrery::kernels::lab
