// What a version costs, by estimate: memory on each device, and the time of a step.
#pragma once

#include <map>
#include <string>

#include "engine/api/preview.h"
#include "engine/api/profile.h"
#include "engine/runtime/model.h"

namespace orrery::api {

/// Of one version; fails as compiling it would, where a node has no kernel.
struct VersionMemory {
  std::string device, name;
  MemoryUse use;
};
Result<std::vector<VersionMemory>> memory_of(const runtime::Model& model, const runtime::Version& version,
                                             Task task, const OpenOptions& options);

/// Of two versions, device by device.
std::vector<MemoryChange> memory_changes(const std::vector<VersionMemory>& before,
                                         const std::vector<VersionMemory>& after);

/// What limits nodes by the device that they are placed on; "": at home.
using DeviceLimits = std::map<std::string, MachineLimits, std::less<>>;

struct LimitedVersion {
  const graph::Graph& graph;  // of its plan for such steps
  const DeviceLimits& limits;
};
/// `measured` is the profile of `before`, or an empty one. `context` tokens are read by a step.
StepTimeChange step_time_change(const LimitedVersion& before, const LimitedVersion& after,
                                const Profile& measured, int64_t context, DType kv_dtype);

}  // namespace orrery::api
