// A group's layout with what stays where it is: boxes at their kept places, new ones on free ground beside
// what feeds them, wires as they were or round the boxes. Standard library only.
#pragma once

#include "ui/graph/arrangement.h"
#include "ui/graph/hierarchy.h"

namespace orrery::ui {

/// `fresh`: as the layout puts the group.
std::shared_ptr<GroupLayout> keptLayout(const SceneGraph& scene, const SceneGroup& group,
                                        const GroupLayout& fresh, const KeptGroup& kept);

/// The path by which an arrangement knows a drawn thing of a group.
const std::string& keyOf(const SceneGraph& scene, const SceneGroup& group, const Placed& placed);

/// Keeps, of groups that were drawn open and are built otherwise now, all that stands in them. Runs of layers
/// have places of their own (hierarchy.h).
void keepEdited(Arrangement& arrangement, const SceneGraph& before,
                const std::shared_ptr<const GroupLayout>& drawn, const SceneGraph& now);
/// After a layout: what is whole stands there from now on.
void adopt(Arrangement& arrangement, const SceneGraph& scene,
           const std::shared_ptr<const GroupLayout>& layout);

}  // namespace orrery::ui
