// The layers of an edited model in the order in which they run, and the tensors that each is made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/exporter/match.h"

namespace orrery::exporter {

/// "blk.3.attn_q.weight" is "blk.", 3 and ".attn_q.weight"; nothing for what belongs to no layer.
struct LayerTensor {
  std::string_view before, after;
  int64_t layer = 0;

  std::string of(int64_t other) const;
};
std::optional<LayerTensor> layer_tensor(std::string_view tensor);

/// New layer i is made of the file's layer originals[i] and stands in the scope scopes[i].
struct Layers {
  std::vector<std::string> scopes;  // "layers.4", "layers.4@2"
  std::vector<int64_t> originals;

  int64_t count() const { return static_cast<int64_t>(originals.size()); }
  /// The new number of the layer that a scope or path belongs to.
  std::optional<int64_t> number_of(std::string_view path) const;
};

/// By the graph's order, which its stream gives; all nodes are live. A scope that reads no tensor of a layer
/// is listed in `differences` and left out.
Layers layers_of(const graph::Graph& graph, std::vector<Difference>& differences);

}  // namespace orrery::exporter
