// linear(x, w1), linear(x, w2), ... in one scope, on one device and in one precision -> fused_linear(x, w1,
// w2, ...), up to four: the activations are read, and quantised where the kernel does that, once. Left alone:
// linears that an activation function follows or that are gate and up (later passes fuse those), and linears
// whose weights are computed.
#include <map>
#include <tuple>

#include "engine/passes/fused_linear.h"
#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

bool is_left_to_others(const graph::Graph& graph, const graph::Node& linear) {
  const NodeId user = only_user(graph, linear.outputs[0]);
  if (!user.valid()) return false;
  const graph::Node& next = graph.node(user);
  if (!epilogue_of(next).empty()) return asked_alike(linear, next);
  return match_gate_up(graph, next).has_value();
}

Result<void> fuse(graph::Graph& graph, std::span<const NodeId> linears) {
  const std::string scope = graph.node(linears.front()).scope;
  const bool attends = linears.size() == 3 && graph.node(linears.front()).name.starts_with('q');
  const std::string name = attends ? "qkv" : "linears";
  ORRERY_ASSIGN(const NodeId fused,
                add_fused_linear(graph, {linears, linears, scope, name, "none", linears.front()}));
  for (size_t i = 0; i < linears.size(); ++i) {
    ORRERY_TRY(replace_value(graph, graph.node(linears[i]).outputs[0], graph.node(fused).outputs[i]));
    ORRERY_TRY(graph.remove_node(linears[i]));
  }
  return {};
}

}  // namespace

Result<int> fuse_qkv(graph::Graph& graph) {
  // Scope, what they read, device, precision.
  using Place = std::tuple<std::string, ValueId, std::string, std::string>;
  std::map<Place, std::vector<NodeId>> groups;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (is_plain_linear(graph, node) && !is_left_to_others(graph, node))
      groups[{node.scope, node.inputs[0], std::string(device_of(node)), std::string(precision_of(node))}]
          .push_back(id);
  }
  int rewrites = 0;
  for (const auto& [place, linears] : groups)
    for (size_t first = 0; first + 1 < linears.size(); first += kMostSegments) {
      const size_t count = std::min(kMostSegments, linears.size() - first);
      ORRERY_TRY(fuse(graph, std::span(linears).subspan(first, count)));
      ++rewrites;
    }
  return rewrites;
}

}  // namespace orrery::passes
