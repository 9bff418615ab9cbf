#include "engine/models/mixture.h"

namespace orrery::models {
namespace {

ValueId matrices(GraphBuilder& builder, const Mixture& mixture, const std::string& name,
                 const std::string& tensor, int64_t rows, int64_t cols) {
  const std::string node = "experts." + name;
  if (tensor.find('*') != std::string::npos)
    return builder.stacked_weight(node, tensor, mixture.experts, {rows, cols});
  return builder.weight(node, tensor, {mixture.experts, rows, cols});
}

}  // namespace

ValueId mix_experts(GraphBuilder& builder, ValueId src, const Mixture& mixture) {
  const ValueId logits = builder.linear(src, {"router", mixture.router, mixture.experts, mixture.width});
  const ValueId chosen = builder.add("top_experts", "top_experts", {logits},
                                     {{"active", mixture.active}, {"normalise", mixture.normalise}});
  const bool fused = mixture.up.empty();
  const ValueId down = matrices(builder, mixture, "down", mixture.down, mixture.width, mixture.inner);
  const ValueId gate = matrices(builder, mixture, fused ? "gate_up" : "gate", mixture.gate,
                                fused ? 2 * mixture.inner : mixture.inner, mixture.width);
  const ValueId up =
      fused ? ValueId{} : matrices(builder, mixture, "up", mixture.up, mixture.inner, mixture.width);
  return builder.add("expert_mlp", "experts", {src, chosen, builder.output(chosen, 1), down, gate, up},
                     {{"activation", mixture.activation}});
}

}  // namespace orrery::models
