#include "ui/placement/places.h"

#include "ui/session/model_title.h"

namespace orrery::ui {
namespace {

void add(Places& places, NodeId node, const std::string& asked, const std::string& device,
         const std::string& reason) {
  NodePlace place{deviceTitle(device), deviceTitle(asked), QString::fromStdString(reason)};
  if (place.device != places.home || place.fellBack()) places.nodes[node] = std::move(place);
}

}  // namespace

NodePlace Places::of(NodeId node) const {
  const auto found = nodes.find(node);
  return found == nodes.end() ? NodePlace{home, home, {}} : found->second;
}

Places modelPlaces(const api::Session& session) {
  Places places{deviceTitle(session.options().device), {}};
  for (const api::NodePlacement& node : session.placement())
    add(places, node.node, node.asked, node.device, node.reason);
  return places;
}

Places fusedPlaces(const api::Session& session, const graph::Graph& fused, const api::PlanReport* plan) {
  Places places{deviceTitle(session.options().device), {}};
  for (const NodeId id : fused.order())
    if (const std::string device(graph::device_of(fused.node(id))); !device.empty())
      add(places, id, device, device, {});
  if (!plan) return places;
  for (const api::PlanStep& step : plan->steps)
    if (!step.asked.empty() && fused.find(step.node))
      add(places, step.node, step.asked, step.device, step.reason);
  return places;
}

}  // namespace orrery::ui
