// What a drawn wire is in the graph: the values that it carries and who reads them.
#pragma once

#include <vector>

#include "ui/graph/geometry.h"

namespace orrery::ui {

/// The values that a wire carries, in the order of the graph: of all edges between what its two ends stand
/// for. None for the dotted one that passes something bypassed by.
std::vector<ValueId> valuesOf(const SceneGraph& scene, int holder, const GroupLayout& layout,
                              const PlacedWire& wire);
/// The nodes that read these values by way of the wire.
std::vector<graph::Use> usesOf(const SceneGraph& scene, int holder, const GroupLayout& layout,
                               const PlacedWire& wire);
/// The wire that a hit is on; null for another hit.
const PlacedWire* wireOf(const Drawing& drawing, const Hit& hit);
/// The positions of those of a group's nodes that a thing of it stands for; of an end, all outside.
bool standsFor(const SceneGraph& scene, int holder, const GroupLayout& layout, int item, int position);

}  // namespace orrery::ui
