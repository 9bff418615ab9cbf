// mul: dst = a * b, b like a or one row for every row of a
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_binary(context, node, Function::mul);
}

}  // namespace

OpSchema mul_op() {
  return {.name = "mul",
          .family = OpFamily::elementwise,
          .doc = "Elementwise product of two values, or of a value and one row.",
          .inputs = {{"a"}, {"b"}},
          .outputs = {"dst"},
          .infer = infer_binary,
          .cost = cost_binary,
          .lowering = lowered_to<kernels::Elementwise>(lower)};
}

}  // namespace orrery::ops
