// The activation of an MLP as config.json names it.
#pragma once

#include "engine/models/config.h"
#include "engine/models/graph_builder.h"

namespace orrery::models {

/// An activation as the op and the attributes that make it.
struct Activation {
  std::string op;             // gelu, relu, silu, tanh
  std::string approximation;  // of gelu: none, tanh
};

/// A value of hidden_act and its kin, or why it is not known.
Result<Activation> parse_activation(const Config& config, std::string_view key, std::string fallback);

ValueId activate(GraphBuilder& builder, const std::string& name, ValueId src, const Activation& activation);

}  // namespace orrery::models
