// sub: dst = a - b
#include "engine/ops/combine_support.h"

namespace orrery::ops {

OpSchema sub_op() {
  return combine_op("sub", kernels::Combine::Function::sub,
                    "Difference of two values, broadcast against each other.");
}

}  // namespace orrery::ops
