#include "engine/passes/rewrite.h"

#include <algorithm>

namespace orrery::passes {

Result<void> replace_value(graph::Graph& graph, ValueId from, ValueId to) {
  for (const graph::Use& use : graph.users(from)) ORRERY_TRY(graph.set_input(use.node, use.input, to));
  std::vector<ValueId> outputs = graph.outputs();
  if (std::find(outputs.begin(), outputs.end(), from) != outputs.end()) {
    std::replace(outputs.begin(), outputs.end(), from, to);
    graph.set_outputs(std::move(outputs));
  }
  return {};
}

std::string common_scope(const graph::Graph& graph, std::span<const NodeId> nodes) {
  std::string common = nodes.empty() ? "" : graph.node(nodes.front()).scope;
  for (const NodeId id : nodes) {
    const std::string& scope = graph.node(id).scope;
    while (!common.empty() && scope != common && !scope.starts_with(common + ".")) {
      const size_t dot = common.rfind('.');
      common.erase(dot == std::string::npos ? 0 : dot);
    }
  }
  return common;
}

std::string free_name(const graph::Graph& graph, const std::string& scope, const std::string& name) {
  const std::string prefix = scope.empty() ? name : scope + "." + name;
  if (!graph.find_path(prefix).valid()) return name;
  int number = 2;
  while (graph.find_path(prefix + "_" + std::to_string(number)).valid()) ++number;
  return name + "_" + std::to_string(number);
}

bool asked_alike(const graph::Node& a, const graph::Node& b) {
  return device_of(a) == device_of(b) && precision_of(a) == precision_of(b);
}

graph::Attributes without_drawings(const graph::Node& node) {
  graph::Attributes attributes = node.attributes;
  std::erase_if(attributes, [](const auto& entry) { return graph::is_drawing_attribute(entry.first); });
  return attributes;
}

void keep_asked(const graph::Node& node, graph::Attributes& attributes) {
  if (const std::string_view device = device_of(node); !device.empty())
    attributes.insert_or_assign(std::string(graph::kDeviceAttribute), std::string(device));
  if (const std::string_view precision = precision_of(node); !precision.empty())
    attributes.insert_or_assign(std::string(graph::kPrecisionAttribute), std::string(precision));
}

std::vector<graph::Origin> origins_of(const graph::Graph& graph, std::span<const NodeId> nodes) {
  constexpr double kBytesPerSecond = 35e9, kFlopsPerSecond = 4e11;
  const Bindings one_token{{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};
  std::vector<graph::Origin> origins;
  double total = 0;
  for (const NodeId id : nodes) {
    const graph::Cost cost = graph.cost(id, one_token);
    const double seconds = std::max(cost.bytes / kBytesPerSecond, cost.flops / kFlopsPerSecond);
    const graph::Node& node = graph.node(id);
    if (node.origins.empty()) origins.push_back({id, seconds});
    for (const graph::Origin& origin : node.origins) origins.push_back({origin.node, seconds * origin.share});
    total += seconds;
  }
  for (graph::Origin& origin : origins)
    origin.share = total > 0 ? origin.share / total : 1.0 / static_cast<double>(origins.size());
  return origins;
}

}  // namespace orrery::passes
