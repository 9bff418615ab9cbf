// add: dst = a + b
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {

OpSchema add_op() {
  return binary_op("add", Function::add, kernels::Combine::Function::add,
                   "Sum of two values, broadcast against each other.");
}

}  // namespace orrery::ops
