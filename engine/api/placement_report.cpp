#include <map>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

std::string or_home(std::string_view device, const std::string& home) {
  return device.empty() ? home : std::string(device);
}

}  // namespace

std::vector<NodePlacement> SessionImpl::placement() const {
  return guarded_or_empty([&] {
    const auto version = parts_.model->version();
    const std::string& home = parts_.options.device;
    std::map<NodeId, const compile::Moved*> moved;
    for (const compile::Moved& entry : version->moved) moved.emplace(entry.node, &entry);
    std::vector<NodePlacement> placements;
    const auto add = [&](NodeId drawn, const graph::Node& run) {
      const graph::Node* node = version->model->find(drawn);
      if (!node) return;  // a transfer
      const auto elsewhere = moved.find(run.id);
      NodePlacement place{drawn, or_home(device_of(*node), home), or_home(device_of(run), home),
                          elsewhere == moved.end() ? "" : elsewhere->second->reason};
      if (place.asked != home || place.device != home) placements.push_back(std::move(place));
    };
    for (const NodeId id : version->fused->order()) {
      const graph::Node& run = version->fused->node(id);
      if (run.is_source()) continue;
      if (run.origins.empty()) add(id, run);
      for (const graph::Origin& origin : run.origins) add(origin.node, run);
    }
    return placements;
  });
}

}  // namespace orrery::api
