#include "engine/ops/collective_support.h"

namespace orrery::ops {

Result<std::vector<Matrix>> collective_parts(const NodeView& view) {
  if (view.inputs.size() < 2)
    return mismatch("parts", fmt::format("parts is {} long; two or more are joined", view.inputs.size()));
  std::vector<Matrix> parts;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    ORRERY_ASSIGN(Matrix part, activation(view, i, "parts"));
    if (!parts.empty() && !(part.rows == parts.front().rows))
      return mismatch("parts", fmt::format("part {} is {}, and the first is {}: they need as many rows", i,
                                           to_string(*view.inputs[i]), to_string(*view.inputs[0])));
    parts.push_back(std::move(part));
  }
  return parts;
}

double collective_bytes(const NodeView& view, const Bindings& bindings) {
  double all = bytes(*view.outputs[0], bindings);
  for (const ValueType* part : view.inputs) all += bytes(*part, bindings);
  return all;
}

}  // namespace orrery::ops
