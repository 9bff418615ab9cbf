// The rows of dropout norms that run on this machine, which may lack what some are built for.
#pragma once

#include "kernels/dropout_norm.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels::testing {

template <class Op>
std::vector<Row<Op>> rows_here(std::span<const Row<Op>> own) {
  std::vector<Row<Op>> rows;
  for (const Row<Op>& row : all_rows(own))
    if (lab::refusal_of(row, {Norm::Kind::layer, 8}).empty()) rows.push_back(row);
  return rows;
}

}  // namespace orrery::kernels::testing
