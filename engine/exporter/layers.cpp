#include "engine/exporter/layers.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "engine/ops/infer_support.h"

namespace orrery::exporter {
namespace {

constexpr std::string_view kLayers = "layers.";

/// "layers.4@2" of "layers.4@2.attention.norm"; empty for what is in no layer.
std::string_view layer_scope(std::string_view path) {
  if (!path.starts_with(kLayers)) return {};
  return path.substr(0, path.find('.', kLayers.size()));
}

struct Seen {
  size_t last = 0;                   // place in the order of the last node that runs
  std::map<int64_t, int> originals;  // how many of its weights are of which layer
};

}  // namespace

std::string LayerTensor::of(int64_t other) const {
  return std::string(before).append(std::to_string(other)).append(after);
}

std::optional<LayerTensor> layer_tensor(std::string_view tensor) {
  for (size_t begin = tensor.find('.'); begin != std::string_view::npos; begin = tensor.find('.', begin)) {
    ++begin;
    const size_t end = std::min(tensor.find('.', begin), tensor.size());
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(tensor.data() + begin, tensor.data() + end, number);
    if (error == std::errc() && rest == tensor.data() + end && end < tensor.size())
      return LayerTensor{tensor.substr(0, begin), tensor.substr(end), number};
  }
  return std::nullopt;
}

std::optional<int64_t> Layers::number_of(std::string_view path) const {
  const auto found = std::ranges::find(scopes, layer_scope(path));
  if (found == scopes.end()) return std::nullopt;
  return found - scopes.begin();
}

Layers layers_of(const graph::Graph& graph, std::vector<Difference>& differences) {
  std::map<std::string, Seen, std::less<>> seen;
  for (size_t at = 0; at < graph.order().size(); ++at) {
    const graph::Node& node = graph.node(graph.order()[at]);
    const std::string path = node.path();
    const std::string_view scope = layer_scope(path);
    if (scope.empty() || node.is_source()) continue;
    Seen& layer = seen[std::string(scope)];
    layer.last = at;
    for (const ValueId input : node.inputs) {
      if (!input.valid()) continue;
      const graph::Node& source = graph.node(graph.value(input).producer);
      if (source.op->name != "weight" || !ops::text(source.attributes, "file").empty()) continue;
      if (const auto name = layer_tensor(ops::text(source.attributes, "tensor")))
        ++layer.originals[name->layer];
    }
  }
  std::vector<std::pair<size_t, std::string>> in_order;
  for (const auto& [scope, layer] : seen) in_order.emplace_back(layer.last, scope);
  std::ranges::sort(in_order);
  Layers layers;
  for (const auto& [last, scope] : in_order) {
    const auto& originals = seen[scope].originals;
    const auto most = std::ranges::max_element(originals, {}, [](const auto& entry) { return entry.second; });
    if (most == originals.end()) {
      differences.push_back({scope, "It reads no tensor of a layer of the file"});
      continue;
    }
    layers.scopes.push_back(scope);
    layers.originals.push_back(most->first);
  }
  return layers;
}

}  // namespace orrery::exporter
