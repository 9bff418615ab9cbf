// Columns of what a node makes that nobody reads: a `mul` by a constant of ones and zeros after it. What a
// person keeps or zeroes of one node is one mask, however often it is changed.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/graph/transaction.h"

namespace orrery::edit {

/// Of each column of a node's first output, whether readers get it.
using Kept = std::vector<bool>;

/// Query heads of an attention node; nothing of any other.
std::optional<int64_t> heads_of(const graph::Node& node);

/// What readers get of the node now: everything where it has no mask. Refused where the first output is not
/// computed in a step, or has no fixed number of columns.
Result<Kept> kept_of(const graph::Graph& graph, NodeId node);

/// The columns of the units ("2-3,7") of a node whose columns are so many units side by side: heads, or rows
/// of a linear's weight. Refused where a range ends beyond them; `unit` is what one is called: "head".
Result<Kept> columns_of(const graph::Graph& graph, NodeId node, std::string_view ranges, int64_t units,
                        std::string_view unit);

/// Makes the node's mask, changes it, or takes it away where everything is kept. True where that changed
/// anything.
Result<bool> keep_columns(const graph::Graph& graph, graph::Transaction& transaction, NodeId node,
                          const Kept& kept);

}  // namespace orrery::edit
