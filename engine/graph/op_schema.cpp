#include "engine/graph/op_schema.h"

namespace orrery::graph {

const InputSpec* input_spec(const OpSchema& op, size_t input) {
  if (input < op.inputs.size()) return &op.inputs[input];
  return !op.inputs.empty() && op.inputs.back().variadic ? &op.inputs.back() : nullptr;
}

bool is_variadic(const OpSchema& op, size_t input) {
  const InputSpec* spec = input_spec(op, input);
  return spec && spec->variadic;
}

}  // namespace orrery::graph
