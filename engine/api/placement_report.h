// Where the nodes of a version run, were asked to, and why elsewhere.
#pragma once

#include <string>
#include <unordered_map>

#include "engine/api/types.h"
#include "engine/runtime/model.h"

namespace orrery::api {

class PlacementReport {
 public:
  /// `home`: the device of nodes that name none. The version must outlive this.
  PlacementReport(const runtime::Version& version, std::string home);

  struct Entry {
    std::string asked, device;
    std::string reason;  // empty where it runs as asked
  };
  /// Of a node of the graph that runs.
  Entry of(const graph::Node& run) const;
  /// Named by a node's attribute, or home.
  std::string device_or_home(const graph::Node& node) const;

 private:
  std::string home_;
  std::unordered_map<NodeId, const compile::Moved*> moved_;
};

/// Of every node of the model graph that runs.
std::vector<NodePlacement> placements_of(const runtime::Version& version, const std::string& home);

}  // namespace orrery::api
