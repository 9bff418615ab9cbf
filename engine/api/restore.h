// "Back to the original" of nodes: the recipe without what was done to them.
#pragma once

#include <string>
#include <vector>

#include "engine/api/history.h"

namespace orrery::api {

/// The entries of the history without the edits of the nodes that the pattern names, in the graph as it is
/// now or as it was opened: what names them, made them, took them away or set them. An edit of several scopes
/// stays for the others. Where there is none, what other edits wired otherwise. Refused when nothing changed
/// them, and when a later edit needs what goes.
Result<std::vector<RecipeEdit>> without_edits_of(const History& history, const graph::Graph& now,
                                                 const std::string& pattern);

}  // namespace orrery::api
