#include "kernels/lab/some_rows.h"

#include <algorithm>

namespace orrery::kernels::lab {

int64_t row_step(double rows, double reads, int64_t rows_of_group) {
  constexpr double kMostReads = 1 << 26;
  const double most = std::max(4.0, kMostReads / reads);
  if (rows <= most) return 1;
  const auto step = static_cast<int64_t>(rows / most);
  return step < rows_of_group ? step | 1 : (step / rows_of_group * rows_of_group + rows_of_group * 5 / 8) | 1;
}

Output rows_of_step(Output whole, int64_t step) {
  if (step == 1) return whole;
  Output some{.name = whole.name, .cols = whole.cols};
  const auto cols = static_cast<size_t>(whole.cols);
  for (auto row = static_cast<size_t>(step - 1); (row + 1) * cols <= whole.values.size();
       row += static_cast<size_t>(step)) {
    some.rows.push_back(static_cast<int64_t>(row));
    some.values.insert(some.values.end(), whole.values.begin() + static_cast<std::ptrdiff_t>(row * cols),
                       whole.values.begin() + static_cast<std::ptrdiff_t>((row + 1) * cols));
  }
  return some;
}

}  // namespace orrery::kernels::lab
