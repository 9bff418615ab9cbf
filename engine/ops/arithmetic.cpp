// Functions of two numbers that have no operator of their own (kernels/combine.h)
#include "engine/ops/combine_support.h"

namespace orrery::ops {

using Function = kernels::Combine::Function;

OpSchema floor_div_op() {
  return combine_op("floor_div", Function::floor_div,
                    "Quotient of two values rounded down; of whole numbers 0 where the divisor is.");
}
OpSchema mod_op() {
  return combine_op("mod", Function::mod,
                    "What is left of a division that is rounded down; it has the sign of the divisor.");
}
OpSchema pow_op() { return combine_op("pow", Function::pow, "The first value to the power of the second."); }
OpSchema maximum_op() {
  return combine_op("maximum", Function::maximum, "The larger of two values; NaN where either is.");
}
OpSchema minimum_op() {
  return combine_op("minimum", Function::minimum, "The smaller of two values; NaN where either is.");
}

}  // namespace orrery::ops
