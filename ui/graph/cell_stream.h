// The residual stream inside a layer of a page: down its left side, with a tap for each node that takes it
// and a ring for each that adds to it. Standard library only.
#pragma once

#include "ui/graph/hierarchy.h"

namespace orrery::ui {

/// Makes room at the left of a layer's layout and draws the stream there.
void drawCellStream(const SceneGraph& scene, const SceneGroup& layer, GroupLayout& layout);

}  // namespace orrery::ui
