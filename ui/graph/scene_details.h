// The second half of making a scene: words for nodes and groups, pills, hashes.
#pragma once

#include "ui/graph/scene_graph.h"

namespace orrery::ui {

void describeNodes(SceneGraph& scene, const Bindings& bindings);
void describeGroups(SceneGraph& scene);
/// Sets the hashes of every group from its nodes, attributes and wires.
void hashGroups(SceneGraph& scene);

}  // namespace orrery::ui
