// Pools of random planes.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/pooling.h"

namespace orrery::kernels::lab {

class PoolingCase {
 public:
  using Op = Pooling;

  explicit PoolingCase(const Pooling::Problem& asked, uint32_t seed = 7,
                       Distribution distribution = Distribution::normal);

  Call<Pooling> place(const Row<Pooling>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Pooling::Problem problem;

 private:
  std::vector<std::byte> src_;
};

class PoolingBackwardCase {
 public:
  using Op = PoolingBackward;

  explicit PoolingBackwardCase(const Pooling::Problem& asked, uint32_t seed = 7,
                               Distribution distribution = Distribution::normal);

  Call<PoolingBackward> place(const Row<PoolingBackward>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Pooling::Problem problem;

 private:
  std::vector<std::byte> grad_dst_, src_;
};

}  // namespace orrery::kernels::lab
