#include "engine/models/activation.h"

#include <fmt/format.h>

namespace orrery::models {

Result<Activation> parse_activation(const Config& config, std::string_view key, std::string fallback) {
  const std::string name = config.text(key, std::move(fallback));
  if (name == "gelu") return Activation{"gelu", "none"};
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast")
    return Activation{"gelu", "tanh"};
  if (name == "relu" || name == "silu" || name == "tanh") return Activation{name, ""};
  return config.unsupported(fmt::format("{} is {:?}", config.name(key), name),
                            "Models with gelu, relu, silu or tanh can be opened");
}

ValueId activate(GraphBuilder& builder, const std::string& name, ValueId src, const Activation& activation) {
  graph::Attributes attributes;
  if (!activation.approximation.empty()) attributes["approximation"] = activation.approximation;
  return builder.add(activation.op, name, {src}, std::move(attributes));
}

}  // namespace orrery::models
