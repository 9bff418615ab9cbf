// Patterns that more than one pass must know.
#pragma once

#include <optional>
#include <string_view>

#include "engine/graph/graph.h"

namespace orrery::passes {

/// The only user of a value that no output of the graph is; none otherwise.
NodeId only_user(const graph::Graph& graph, ValueId value);

/// The node that makes a value, when its op is `op`; else null.
const graph::Node* producer_of(const graph::Graph& graph, ValueId value, std::string_view op);

/// A linear without epilogue, whose weight and bias are sources.
bool is_plain_linear(const graph::Graph& graph, const graph::Node& node);

/// The epilogue of `linear` that does what an activation node does: "gelu_erf", "silu", ...; empty for other
/// nodes.
std::string_view epilogue_of(const graph::Node& activation);

/// act(linear(x, gate)) * linear(x, up), all in one scope and on one device, where nothing else reads what
/// lies between.
struct GateUp {
  NodeId gate, up, activation, product;
  std::string_view epilogue;  // "silu_mul", "gelu_tanh_mul"
};
std::optional<GateUp> match_gate_up(const graph::Graph& graph, const graph::Node& product);

/// add(linear(x, W), scale(linear(linear(x, A), B))), where nothing else reads what lies between and A and B
/// have no bias.
struct LowRankSum {
  NodeId linear, inner, outer, scale, add;  // no scale: a factor of 1 was folded away
};
std::optional<LowRankSum> match_low_rank(const graph::Graph& graph, const graph::Node& add);

}  // namespace orrery::passes
