// place scope=S device=D: where the nodes of S run. The values stay what they are; the compiler carries them
// across between the devices.
#pragma once

#include "engine/edit/edit.h"

namespace orrery::edit {

/// Every node but the sources in all scopes that the pattern names (a node's own path is one) is asked to run
/// on D: "cpu", "cuda:N", or "home", the model's own device. Refused when that changes nothing.
Result<graph::Journal> place(graph::Graph& graph, const Edit& edit);

}  // namespace orrery::edit
