#include "engine/ops/sequence_support.h"

namespace orrery::ops {

Term row_numbers(const Term& matrix) {
  const std::vector<int64_t> column{1}, begin{0}, end{1};
  return numbered(apply("slice", matrix, {{"axes", column}, {"starts", begin}, {"stops", end}}), 0,
                  DType::i32);
}

Term text_numbers(const Term& row_numbers, const Term& starts) {
  if (!row_numbers || !starts) return {};
  const Term begun = row_numbers.rule().apply("less_equal", {unsqueeze(starts, 0), row_numbers});
  return sum(cast(begun, DType::i32), {1}) + -1;
}

}  // namespace orrery::ops
