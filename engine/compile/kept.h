// Activations that a plan keeps in 16 bits. A kernel that multiplies bf16 rounds its float32 input first;
// where every reader of a value does so, the value's maker may round it instead: the same numbers, and half
// the bytes on both sides.
#pragma once

#include <unordered_map>

#include "engine/ops/lowering.h"

namespace orrery::compile {

/// How the kernels of the live nodes round; a node that is not there reads and writes float32.
using Roundings = std::unordered_map<NodeId, ops::Rounding>;

/// The type of each value that is kept in another than float32. All outputs of a node are kept alike; an
/// output of the graph is read by others than its nodes, and stays float32.
std::unordered_map<ValueId, DType> kept_types(const graph::Graph& graph, const Roundings& roundings);

}  // namespace orrery::compile
