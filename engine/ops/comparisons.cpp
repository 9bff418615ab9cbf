// The comparisons: dst = a < b and so on, of bool; NaN is equal to nothing
#include "engine/ops/combine_support.h"

namespace orrery::ops {

using Comparison = kernels::Combine::Function;

OpSchema equal_op() { return combine_op("equal", Comparison::equal, "Where two values are equal."); }
OpSchema not_equal_op() {
  return combine_op("not_equal", Comparison::not_equal, "Where two values are not equal.");
}
OpSchema less_op() { return combine_op("less", Comparison::less, "Where the first value is less."); }
OpSchema less_equal_op() {
  return combine_op("less_equal", Comparison::less_equal, "Where the first value is less or equal.");
}
OpSchema greater_op() {
  return combine_op("greater", Comparison::greater, "Where the first value is greater.");
}
OpSchema greater_equal_op() {
  return combine_op("greater_equal", Comparison::greater_equal, "Where the first value is greater or equal.");
}

}  // namespace orrery::ops
