// What a model gives to whoever runs it.
#pragma once

#include "engine/graph/graph.h"

namespace orrery::api {

/// Whether an edited graph still gives what the opened one gives: its outputs but the states, first and in
/// order, each of its type. Replies, labels and vectors are read from these. Others may follow.
Result<void> check_results(const graph::Graph& opened, const graph::Graph& edited);

}  // namespace orrery::api
