// set node=N attribute=A value=V: another value for an attribute of one node.
#pragma once

#include "engine/edit/edit.h"

namespace orrery::edit {

/// V is read as the attribute's type: true or false, a number, a text, or whole numbers with commas between.
/// Refused for sources, for a value of another type or out of its range, and when it changes nothing.
Result<graph::Journal> set(graph::Graph& graph, const Edit& edit);

}  // namespace orrery::edit
