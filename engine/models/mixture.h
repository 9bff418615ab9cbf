// A mixture of experts in the place of a layer's MLP (Mixtral, arXiv 2401.04088).
#pragma once

#include "engine/models/graph_builder.h"

namespace orrery::models {

/// Tensors with their whole names; "*" stands for the expert's number where each has its own, else the first
/// dim does.
struct Mixture {
  int64_t experts = 0, active = 0;  // of them for each token
  int64_t width = 0, inner = 0;
  bool normalise = true;            // the weights of a token's experts add up to 1
  std::string activation = "silu";  // of expert_mlp
  std::string router;               // without ".weight"
  std::string gate, up, down;       // up empty: gate holds both, gate above up
};

/// Nodes router, top_experts, experts in the current scope.
ValueId mix_experts(GraphBuilder& builder, ValueId src, const Mixture& mixture);

}  // namespace orrery::models
