// Rope on rows that lie 5 elements apart; what is not rotated is compared too.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/rope.h"

namespace orrery::kernels::lab {

struct RopeShape {
  Rope::Style style = Rope::Style::interleaved;
  int64_t tokens = 1, heads = 1, head_dim = 64, rope_dims = 64;
  int32_t first_position = 0;  // those after it are 3 apart
  bool factors = false, in_place = false;
  RopeScaling scaling = {RopeScaling::Kind::linear, 2.0};
};

class RopeCase {
 public:
  using Op = Rope;

  explicit RopeCase(const RopeShape& shape, Distribution distribution = Distribution::normal,
                    uint32_t seed = 11);

  Call<Rope> place(const Row<Rope>& row, Place& place) const;
  /// dst with what lies between its rows.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Rope::Problem problem;

 private:
  int64_t stride() const { return shape_.heads * shape_.head_dim + 5; }

  RopeShape shape_;
  std::vector<float> src_, factors_;
  std::vector<int32_t> positions_;
};

}  // namespace orrery::kernels::lab
