// where: dst = condition ? a : b
#include "engine/ops/combine_support.h"

namespace orrery::ops {

OpSchema where_op() {
  return combine_op("where", kernels::Combine::Function::where,
                    "The one value where a condition holds, else the other.");
}

}  // namespace orrery::ops
