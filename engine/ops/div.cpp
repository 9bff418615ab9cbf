// div: dst = a / b; quotients of whole numbers are f32
#include "engine/ops/combine_support.h"

namespace orrery::ops {

OpSchema div_op() {
  return combine_op("div", kernels::Combine::Function::div,
                    "Quotient of two values, broadcast against each other; of whole numbers in f32.");
}

}  // namespace orrery::ops
