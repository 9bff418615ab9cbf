// Which text of a step each row belongs to, in formulas of gradients.
#pragma once

#include "engine/ops/gradients.h"

namespace orrery::ops {

/// i32[rows, 1]: 0, 1, 2, .. for the rows of a matrix.
Term row_numbers(const Term& matrix);
/// i32[rows, 1]: the number of the text that a row is of, counted from 0; `starts` i32[texts + 1] rises from
/// 0 to the number of rows.
Term text_numbers(const Term& row_numbers, const Term& starts);

}  // namespace orrery::ops
