// Elementwise functions of one operand.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/map.h"

namespace orrery::kernels::lab {

class MapCase {
 public:
  using Op = Map;

  /// src holds elements of the problem's type.
  MapCase(const Map::Problem& asked, std::vector<std::byte> src);

  Call<Map> place(const Row<Map>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Map::Problem problem;

 private:
  std::vector<std::byte> src_;
  int64_t count_;
};

}  // namespace orrery::kernels::lab
