// How wide boxes are: as their words need, measured in the fonts of the view. Standard library only.
#pragma once

#include <string>

#include "ui/graph/hierarchy.h"

namespace orrery::ui {

/// `close`: it may be narrower than elsewhere, in a layer of a page.
double nodeWidth(const SceneNode& node, const TextWidths& widths, bool close);
/// Of a folded group, or a stack.
double foldedWidth(const SceneGroup& first, const SceneGroup& last, const TextWidths& widths);
/// Width of a pill with this text; 0 for none.
double pillWidth(const ScenePill& pill, const TextWidths& widths);
/// What a pill says: "ffn_gate  553 kB".
std::string pillText(const ScenePill& pill);

}  // namespace orrery::ui
