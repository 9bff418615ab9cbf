#include "engine/compile/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/compile/plan.h"
#include "engine/ops/state_kind.h"
#include "kernels/attention.h"

namespace orrery::compile {
namespace {

Result<int64_t> positive(const graph::Node& node, const char* attribute) {
  const auto it = node.attributes.find(attribute);
  const auto* number = it == node.attributes.end() ? nullptr : std::get_if<int64_t>(&it->second);
  if (!number || *number <= 0 || *number > (int64_t{1} << 20))
    return Error{ErrorCode::invalid_argument, fmt::format("The state has no usable \"{}\"", attribute),
                 fmt::format("node {}", node.path()), "give it a whole number above 0"};
  return *number;
}

Result<StateForm> form_of(const graph::Graph& graph, const graph::Node& node) {
  const auto elements = [&] {
    return element_count(graph.value(node.outputs[0]).type.shape, {}).value_or(0);
  };
  if (ops::keeps_record(node.attributes)) return StateForm::record(elements());
  if (ops::keeps_summary(node.attributes)) return StateForm::summary(elements());
  ORRERY_ASSIGN(const int64_t kv_heads, positive(node, "kv_heads"));
  ORRERY_ASSIGN(const int64_t head_dim, positive(node, "head_dim"));
  return StateForm::per_token(kv_heads, head_dim);
}

/// Where the first node runs that touches the state; placement keeps the others with it.
std::optional<kernels::DeviceId> device_of_state(const graph::Graph& graph, const std::vector<bool>& live,
                                                 ValueId initial) {
  for (size_t i = 0; i < graph.order().size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!live[i] || std::find(node.inputs.begin(), node.inputs.end(), initial) == node.inputs.end()) continue;
    if (graph::device_of(node).empty()) break;
    return runs_on(node, kernels::kCpuId);
  }
  return std::nullopt;
}

}  // namespace

size_t StateForm::page_bytes(DType kv) const {
  if (is_summary()) return 0;
  if (is_record()) return static_cast<size_t>(elements) * sizeof(float);
  return kernels::kv_page_bytes(kv, kPageTokens, kv_heads, head_dim);
}

std::string StateForm::words() const {
  return kind == Kind::per_token ? fmt::format("{} heads of {}", kv_heads, head_dim)
                                 : fmt::format("{} numbers", elements);
}

Result<std::vector<StateUse>> states_of(const graph::Graph& graph) {
  std::vector<StateUse> states;
  std::unordered_map<NodeId, size_t> index;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < graph.order().size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!live[i] || !node.is_source() || node.outputs.size() != 1) continue;
    if (graph.value(node.outputs[0]).kind != graph::ValueKind::state) continue;
    StateUse use{node.id, node.outputs[0], {}, {}, device_of_state(graph, live, node.outputs[0])};
    ORRERY_ASSIGN(use.form, form_of(graph, node));
    index.emplace(node.id, states.size());
    states.push_back(use);
  }
  for (const ValueId output : graph.outputs()) {
    if (graph.value(output).kind != graph::ValueKind::state) continue;
    if (const auto it = index.find(graph::state_source(graph, output)); it != index.end())
      states[it->second].last = output;
  }
  return states;
}

uint64_t kv_cache_bytes(const graph::Graph& graph, DType dtype, int64_t tokens) {
  const auto states = states_of(graph);
  if (!states.ok()) return 0;
  const auto pages = static_cast<uint64_t>((tokens + kPageTokens - 1) / kPageTokens);
  const auto bytes_of = [&](const StateForm& form) -> uint64_t {
    if (form.is_record()) return form.page_bytes(dtype) * pages;
    if (form.is_summary()) return form.summary_bytes() * static_cast<uint64_t>(StateForm::kSummaries);
    return kernels::kv_page_bytes(dtype, tokens, form.kv_heads, form.head_dim);
  };
  uint64_t bytes = 0;
  for (const StateUse& state : states.value()) bytes += bytes_of(state.form);
  return bytes;
}

}  // namespace orrery::compile
