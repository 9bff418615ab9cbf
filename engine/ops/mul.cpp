// mul: dst = a * b, b like a or one row for every row of a
#include "engine/ops/pointwise_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"a"}, {"b"}};
constexpr std::string_view kOutputs[] = {"dst"};

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_binary(context, node, Function::mul);
}

const OpSchema kSchema{"mul",
                       OpFamily::elementwise,
                       "Elementwise product of two values, or of a value and one row.",
                       kInputs,
                       kOutputs,
                       {},
                       infer_binary,
                       cost_binary};

}  // namespace

const Op kMul{&kSchema, lower};

}  // namespace orrery::ops
