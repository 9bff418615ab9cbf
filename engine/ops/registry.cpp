#include "engine/ops/lowering.h"

namespace orrery::ops {

#define ORRERY_OP(name) graph::OpSchema name##_op();
#include "engine/ops/ops.inc"
#undef ORRERY_OP

std::shared_ptr<graph::OpRegistry> registry() {
  static const auto instance = std::make_shared<graph::OpRegistry>(std::vector<graph::OpSchema>{
#define ORRERY_OP(name) name##_op(),
#include "engine/ops/ops.inc"
#undef ORRERY_OP
  });
  return instance;
}

}  // namespace orrery::ops
