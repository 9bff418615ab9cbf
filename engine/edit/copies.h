// Copies of scopes: layers.4@2 of layers.4.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/edit/region.h"
#include "engine/graph/transaction.h"

namespace orrery::edit {

/// By value of the original that of the copy; what is not in it is read by both.
using CopiedValues = std::unordered_map<ValueId, ValueId>;

/// The first number from `least` on at which the name of every scope's copy is free: 2 for "layers.4@2".
int free_number(const graph::Graph& graph, std::span<const std::string> scopes, int least = 2);
std::string suffix_of(int number);  // "@2"
/// The name of a scope's copy. A copy of a copy counts on: "layers.4@3" of "layers.4@2".
std::string copy_path(std::string_view scope, std::string_view suffix);

/// Copies a region, which is all nodes of the scopes, to before a node (none: to the end). Links among them
/// stay among the copies; what comes from outside is read as `inputs` says, or as the originals read it.
/// Weights and constants of the scopes get nodes of their own that name the same tensor; whoever writes a
/// state gets a state of its own. Step inputs are shared, and what is drawn on the originals stays there.
Result<CopiedValues> copy_region(const graph::Graph& graph, graph::Transaction& transaction,
                                 const Region& region, std::span<const std::string> scopes,
                                 std::string_view suffix, NodeId before, const CopiedValues& inputs = {});

}  // namespace orrery::edit
