#include "engine/api/placement_report.h"

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {

PlacementReport::PlacementReport(const runtime::Version& version, std::string home) : home_(std::move(home)) {
  for (const compile::Moved& moved : version.moved) moved_.emplace(moved.node, &moved);
}

std::string PlacementReport::device_or_home(const graph::Node& node) const {
  const std::string_view device = device_of(node);
  return device.empty() ? home_ : std::string(device);
}

PlacementReport::Entry PlacementReport::of(const graph::Node& run) const {
  if (const auto it = moved_.find(run.id); it != moved_.end())
    return {it->second->asked, it->second->device, it->second->reason};
  const std::string device = device_or_home(run);
  return {device, device, ""};
}

std::vector<NodePlacement> placements_of(const runtime::Version& version, const std::string& home) {
  const PlacementReport report(version, home);
  std::vector<NodePlacement> placements;
  const auto add = [&](NodeId drawn, const graph::Node& run) {
    if (!version.model->find(drawn)) return;  // a transfer
    PlacementReport::Entry entry = report.of(run);
    placements.push_back({drawn, std::move(entry.asked), std::move(entry.device), std::move(entry.reason)});
  };
  for (const NodeId id : version.fused->order()) {
    const graph::Node& run = version.fused->node(id);
    if (run.is_source()) continue;
    if (run.origins.empty()) add(id, run);
    for (const graph::Origin& origin : run.origins) add(origin.node, run);
  }
  return placements;
}

std::vector<NodePlacement> SessionImpl::placement() const {
  return guarded_or_empty([&] {
    const std::string& home = parts_.options.device;
    std::vector<NodePlacement> placements = placements_of(*state()->version, home);
    std::erase_if(placements,
                  [&](const NodePlacement& place) { return place.asked == home && place.device == home; });
    return placements;
  });
}

}  // namespace orrery::api
