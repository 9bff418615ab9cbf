// mul: dst = a * b
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {

OpSchema mul_op() {
  return binary_op("mul", Function::mul, kernels::Combine::Function::mul,
                   "Elementwise product of two values, broadcast against each other.");
}

}  // namespace orrery::ops
