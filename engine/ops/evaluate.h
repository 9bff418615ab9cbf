// What a node computes from constants, by the kernels of its own op.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::ops {

/// More elements than these are left to the steps.
inline constexpr int64_t kMostFolded = int64_t{1} << 16;

/// The bytes of the only output, where every input is a constant; nothing where one is not, where a shape is
/// not fixed or too large, or where the CPU has no row for it.
std::optional<std::vector<std::byte>> evaluate(const graph::Graph& graph, const graph::Node& node);

}  // namespace orrery::ops
