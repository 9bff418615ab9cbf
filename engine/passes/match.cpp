#include "engine/passes/match.h"

#include <algorithm>

#include "engine/passes/rewrite.h"
#include "kernels/activation.h"

namespace orrery::passes {

NodeId only_user(const graph::Graph& graph, ValueId value) {
  const auto& outputs = graph.outputs();
  const std::vector<graph::Use> users = graph.users(value);
  if (users.size() != 1 || std::find(outputs.begin(), outputs.end(), value) != outputs.end()) return {};
  return users.front().node;
}

const graph::Node* producer_of(const graph::Graph& graph, ValueId value, std::string_view op) {
  const graph::Value* found = graph.find_value(value);
  const graph::Node* node = found ? graph.find(found->producer) : nullptr;
  return node && node->op->name == op ? node : nullptr;
}

bool is_plain_linear(const graph::Graph& graph, const graph::Node& node) {
  if (node.op->name != "linear" || node.inputs.size() < 2) return false;
  const auto* epilogue = attribute<std::string>(node, "epilogue");
  if (epilogue && *epilogue != "none") return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId input) {
    return !input.valid() || graph.node(graph.value(input).producer).is_source();
  });
}

std::string_view epilogue_of(const graph::Node& activation) {
  const std::string_view op = activation.op->name;
  if (op == "gelu") {
    const auto* approximation = attribute<std::string>(activation, "approximation");
    if (!approximation || *approximation == "none") return "gelu_erf";
    return *approximation == "tanh" ? "gelu_tanh" : std::string_view();
  }
  for (const kernels::ActivationInfo& same : kernels::kActivations)
    if (op == same.name) return same.name;
  return {};
}

namespace {

bool has_bias(const graph::Node& linear) { return linear.inputs.size() > 2 && linear.inputs[2].valid(); }

/// The linear is one side of the sum, the low-rank product the other.
std::optional<LowRankSum> match_sides(const graph::Graph& graph, const graph::Node& add, size_t linear_at) {
  const graph::Node* linear = producer_of(graph, add.inputs[linear_at], "linear");
  const ValueId product = add.inputs[1 - linear_at];
  const graph::Node* scale = producer_of(graph, product, "scale");
  const graph::Node* outer = producer_of(graph, scale ? scale->inputs[0] : product, "linear");
  const graph::Node* inner = outer ? producer_of(graph, outer->inputs[0], "linear") : nullptr;
  if (!linear || !inner || inner->inputs[0] != linear->inputs[0]) return std::nullopt;
  for (const graph::Node* node : {linear, inner, outer})
    if (!is_plain_linear(graph, *node)) return std::nullopt;
  const auto read_by = [&](const graph::Node& maker, const graph::Node& reader) {
    return only_user(graph, maker.outputs[0]) == reader.id;
  };
  if (has_bias(*inner) || has_bias(*outer) || !read_by(*linear, add) || (scale && !read_by(*scale, add)) ||
      !read_by(*outer, scale ? *scale : add) || !read_by(*inner, *outer))
    return std::nullopt;
  return LowRankSum{linear->id, inner->id, outer->id, scale ? scale->id : NodeId(), add.id};
}

}  // namespace

std::optional<LowRankSum> match_low_rank(const graph::Graph& graph, const graph::Node& add) {
  if (add.op->name != "add" || add.inputs.size() != 2) return std::nullopt;
  auto found = match_sides(graph, add, 0);
  return found ? found : match_sides(graph, add, 1);
}

std::optional<GateUp> match_gate_up(const graph::Graph& graph, const graph::Node& product) {
  if (product.op->name != "mul" || product.inputs.size() != 2) return std::nullopt;
  for (const size_t side : {0U, 1U}) {
    const graph::Value& activated = graph.value(product.inputs[side]);
    const graph::Node& activation = graph.node(activated.producer);
    const std::string_view epilogue = epilogue_of(activation);
    if (epilogue != "silu" && epilogue != "gelu_tanh") continue;
    const graph::Node* gate = producer_of(graph, activation.inputs[0], "linear");
    const graph::Node* up = producer_of(graph, product.inputs[1 - side], "linear");
    if (!gate || !up || gate == up || !is_plain_linear(graph, *gate) || !is_plain_linear(graph, *up))
      continue;
    const bool same_place = gate->inputs[0] == up->inputs[0] && gate->scope == up->scope &&
                            gate->scope == activation.scope && gate->scope == product.scope;
    const bool asked_same =
        asked_alike(*gate, *up) && asked_alike(*gate, activation) && asked_alike(*gate, product);
    const bool same_type = graph.value(gate->outputs[0]).type == graph.value(up->outputs[0]).type;
    const bool unseen = only_user(graph, gate->outputs[0]) == activation.id &&
                        only_user(graph, activated.id) == product.id &&
                        only_user(graph, up->outputs[0]) == product.id;
    if (same_place && asked_same && same_type && unseen)
      return GateUp{gate->id, up->id, activation.id, product.id,
                    epilogue == "silu" ? "silu_mul" : "gelu_tanh_mul"};
  }
  return std::nullopt;
}

}  // namespace orrery::passes
