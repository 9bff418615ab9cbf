// silu(linear(x, gate)) * linear(x, up) -> fused_linear(x, gate, up) with epilogue silu_mul; gelu (tanh)
// likewise. Only where nothing else reads the values between.
#include <array>

#include "engine/passes/fused_linear.h"
#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {

Result<int> fuse_gate_up(graph::Graph& graph) {
  int rewrites = 0;
  for (const NodeId id : std::vector(graph.order())) {
    const graph::Node* product = graph.find(id);
    const auto match = product ? match_gate_up(graph, *product) : std::nullopt;
    if (!match) continue;
    const std::array linears = {match->gate, match->up};
    const std::array origins = {match->gate, match->up, match->activation, match->product};
    const std::string name = match->epilogue == "silu_mul" ? "gate_up_silu" : "gate_up_gelu";
    ORRERY_ASSIGN(const NodeId fused,
                  add_fused_linear(graph, {linears, origins, product->scope, name,
                                           std::string(match->epilogue), match->product}));
    ORRERY_TRY(replace_value(graph, graph.node(id).outputs[0], graph.node(fused).outputs[0]));
    for (const NodeId done : {match->product, match->activation, match->gate, match->up})
      ORRERY_TRY(graph.remove_node(done));
    ++rewrites;
  }
  return rewrites;
}

}  // namespace orrery::passes
