// Whether a device has kernels for a node, asked of the node's own lowering without a plan, weights or
// memory.
#pragma once

#include <optional>

#include "engine/compile/placement.h"
#include "engine/ops/lowering.h"

namespace orrery::compile {

/// Why no kernel of the device can run the node, in the rows' own words; nothing when one can, in steps of
/// one token and in the largest.
std::optional<std::string> refusal(const graph::Graph& graph, const graph::Node& node,
                                   kernels::DeviceId device, const PlacementOptions& options);

}  // namespace orrery::compile
