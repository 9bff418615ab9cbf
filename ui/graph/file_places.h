// Where a person put nodes, as the file of a graph of one's own keeps it: by each node's path, the middle of
// its top in the frame of its scope.
#pragma once

#include "ui/graph/arrangement.h"
#include "ui/session/services.h"

namespace orrery::ui {

api::Places filePlacesOf(const Arrangement& arrangement);
Arrangement arrangementOf(const api::Places& places);

}  // namespace orrery::ui
