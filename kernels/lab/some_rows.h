// Calls that are too long for the oracle: it works out every step-th row of their results, from the row
// step - 1 on, and those alone are compared.
#pragma once

#include <cstdint>

#include "kernels/lab/agreement.h"

namespace orrery::kernels::lab {

/// The step for so many rows, of each of which the oracle reads so many elements: 1 where that takes a second
/// or so. Else not all rows are of one group of so many that follow each other, nor at one place of each.
int64_t row_step(double rows, double reads, int64_t rows_of_group);

/// Of `whole`, of which all rows are there, every step-th one.
Output rows_of_step(Output whole, int64_t step);

}  // namespace orrery::kernels::lab
