// Graphs whose nodes run on several devices, made by hand.
#pragma once

#include <map>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {

/// Scopes and the device that their nodes run on.
using Places = std::vector<std::pair<std::string, std::string>>;

/// A version whose fused nodes in some scopes run elsewhere than at home, with a transfer for each value that
/// is read on another device. `cards`: beside home.
inline std::shared_ptr<const Version> placed_version(const graph::GraphVersion& model, const Places& places,
                                                     const std::string& home,
                                                     std::vector<weights::DevicePtr> cards = {}) {
  auto graph = std::make_shared<graph::Graph>(*TinyModel::version(model)->fused);
  for (const auto& [scope, device] : places)
    for (const NodeId id : graph->in_scope(scope)) {
      if (graph->node(id).is_source()) continue;
      EXPECT_TRUE(graph->set_attribute(id, "device", device).ok());
    }
  const auto side = [&](NodeId id) {
    const std::string_view named = graph::device_of(graph->node(id));
    return std::string(named.empty() ? home : named);
  };
  std::map<std::pair<ValueId, std::string>, ValueId> copies;
  const std::vector<NodeId> order = graph->order();
  for (const NodeId id : order) {
    if (graph->node(id).is_source()) continue;
    for (size_t i = 0; i < graph->node(id).inputs.size(); ++i) {
      const graph::Value* value = graph->find_value(graph->node(id).inputs[i]);
      if (!value || value->kind != graph::ValueKind::activation || side(value->producer) == side(id))
        continue;
      ValueId& copy = copies[{value->id, side(id)}];
      if (!copy.valid()) {
        auto added = graph->add_node({"transfer",
                                      "transfers",
                                      "v" + std::to_string(copies.size()),
                                      {{"device", side(id)}},
                                      {value->id},
                                      {},
                                      id});
        EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().to_string());
        copy = graph->node(added.value()).outputs[0];
      }
      EXPECT_TRUE(graph->set_input(id, static_cast<int>(i), copy).ok());
    }
  }
  auto version = make_version({model, graph, {}, std::move(cards)});
  EXPECT_TRUE(version.ok());
  return version.value();
}

/// Some scopes on one device.
inline Places all_on(const std::string& device, const std::vector<std::string>& scopes) {
  Places places;
  for (const std::string& scope : scopes) places.emplace_back(scope, device);
  return places;
}

}  // namespace orrery::runtime
