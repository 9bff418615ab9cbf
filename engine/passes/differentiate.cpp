#include "engine/passes/differentiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ops/gradients.h"

namespace orrery::passes {
namespace {

/// Floats, or blocks that stand for them.
bool holds_reals(const graph::Value& value) {
  return is_float(value.type.dtype) || !is_element(value.type.dtype);
}

Error refusal(const graph::Graph& graph, ValueId value, std::string what, std::string advice = "") {
  return {ErrorCode::invalid_argument, std::move(what),
          graph.find_value(value) ? graph.value_path(value) : fmt::format("%{}", value.value),
          std::move(advice)};
}

Result<void> expect_reals(const graph::Graph& graph, ValueId id) {
  const graph::Value* value = graph.find_value(id);
  if (!value) return refusal(graph, id, "The graph has no such value");
  if (value->kind == graph::ValueKind::state)
    return refusal(graph, id, "A state has no gradient", "choose a value that nodes compute");
  if (!holds_reals(*value))
    return refusal(graph, id, fmt::format("It is {}, and only floats have gradients", to_string(value->type)),
                   "cast it before it is used");
  return {};
}

Result<void> expect_end(const graph::Graph& graph, const Differentiated& end) {
  ORRERY_TRY(expect_reals(graph, end.value));
  const graph::ValueType& type = graph.value(end.value).type;
  if (!end.gradient.valid()) {
    if (element_count(type.shape, {}) == 1) return {};
    return refusal(
        graph, end.value,
        fmt::format("It is {}, which is not one number: it has no gradient of its own", to_string(type)),
        "sum it, or give the gradient of what follows it");
  }
  const graph::Value* given = graph.find_value(end.gradient);
  if (given && given->type == type) return {};
  return refusal(graph, end.value,
                 fmt::format("{} is {}, but its gradient is {}; both must be of one type and shape",
                             graph.value_path(end.value), to_string(type),
                             given ? to_string(given->type) : "not there"));
}

/// Values that follow from others.
using Values = std::unordered_set<ValueId>;

/// Those that depend on `by`, along every edge or along those that gradients take.
Values followers(const graph::Graph& graph, std::span<const ValueId> by, bool by_gradients) {
  Values values(by.begin(), by.end());
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (by_gradients && node.op->stops_gradient) continue;
    const auto follows = [&](ValueId input) { return values.contains(input); };
    if (std::ranges::none_of(node.inputs, follows)) continue;
    for (const ValueId output : node.outputs)
      if (!by_gradients || holds_reals(graph.value(output))) values.insert(output);
  }
  return values;
}

class Differentiation {
 public:
  Differentiation(const graph::Graph& graph, std::span<const ValueId> by)
      : graph_(graph), order_(graph.order()), flows_(followers(graph, by, true)) {}

  void begin_at(const Differentiated& end) {
    if (!flows_.contains(end.value)) return;
    const graph::Value value = graph_.value(end.value);
    ops::Gradients at(graph_, value.producer, {}, {});
    add(end.value, end.gradient.valid()
                       ? end.gradient
                       : filled_like(at.output(static_cast<size_t>(value.output)), 1, value.type.dtype).id());
  }

  Result<void> go_back() {
    for (size_t i = order_.size(); i-- > 0;) ORRERY_TRY(go_back_through(order_[i]));
    return {};
  }

  ValueId gradient_of(ValueId id) {
    if (const auto found = gradients_.find(id); found != gradients_.end()) return found->second;
    const graph::Value value = graph_.value(id);
    ops::Gradients at(graph_, value.producer, {}, {});
    return zeros_like(at.output(static_cast<size_t>(value.output))).id();
  }

  graph::Graph take_graph() { return std::move(graph_); }

 private:
  Result<void> go_back_through(NodeId id) {
    const graph::Node node = graph_.node(id);
    std::vector<ValueId> gradients;
    for (const ValueId output : node.outputs) {
      const auto found = gradients_.find(output);
      gradients.push_back(found == gradients_.end() ? ValueId{} : found->second);
    }
    std::vector<bool> wanted;
    for (const ValueId input : node.inputs) wanted.push_back(flows_.contains(input));
    const bool comes_back = std::ranges::any_of(gradients, &ValueId::valid);
    const bool goes_on = std::ranges::find(wanted, true) != wanted.end();
    if (!comes_back || !goes_on || node.op->stops_gradient) return {};
    if (!node.op->gradient) return no_rule(node);
    ops::Gradients at(graph_, id, std::move(gradients), std::move(wanted));
    node.op->gradient(at);
    ORRERY_ASSIGN(const std::vector<ValueId> given, at.finish());
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i].valid()) add(node.inputs[i], given[i]);
    return {};
  }

  Error no_rule(const graph::Node& node) const {
    const auto is_state = [&](ValueId input) {
      const graph::Value* value = graph_.find_value(input);
      return value && value->kind == graph::ValueKind::state;
    };
    if (std::ranges::none_of(node.inputs, is_state))
      return {ErrorCode::unsupported, fmt::format("The op {} has no gradient", node.op->name), node.path(),
              "differentiate with respect to values that come after it"};
    return {
        ErrorCode::unsupported,
        fmt::format("The op {} has no gradient: it reads a state, which keeps what was read in other steps",
                    node.op->name),
        node.path(),
        "differentiate with respect to values that come after it, or attribute a text, which is read whole"};
  }

  /// One more part of the gradient of a value.
  void add(ValueId value, ValueId part) {
    const auto [found, is_first] = gradients_.emplace(value, part);
    if (is_first) return;
    ops::Gradients at(graph_, graph_.value(value).producer, {found->second, part}, {});
    found->second = (at.gradient(0) + at.gradient(1)).id();
  }

  graph::Graph graph_;
  const std::vector<NodeId> order_;  // before anything was added
  const Values flows_;
  std::unordered_map<ValueId, ValueId> gradients_;
};

}  // namespace

Result<Derivatives> differentiate(const graph::Graph& graph, std::span<const Differentiated> of,
                                  std::span<const ValueId> by) {
  for (const Differentiated& end : of) ORRERY_TRY(expect_end(graph, end));
  for (const ValueId value : by) ORRERY_TRY(expect_reals(graph, value));
  const Values depending = followers(graph, by, false);
  if (std::ranges::none_of(of, [&](const Differentiated& end) { return depending.contains(end.value); }))
    return of.empty() || by.empty()
               ? Error{ErrorCode::invalid_argument, "There is nothing to differentiate", "",
                       "name a value, and values that it depends on"}
               : refusal(graph, of.front().value,
                         fmt::format("It does not depend on {}", graph.value_path(by.front())),
                         "choose values that it is computed from");
  Differentiation differentiation(graph, by);
  for (const Differentiated& end : of) differentiation.begin_at(end);
  ORRERY_TRY(differentiation.go_back());
  Derivatives made{graph::Graph(graph.shared_ops()), {}};
  for (const ValueId value : by) made.values.push_back(differentiation.gradient_of(value));
  made.graph = differentiation.take_graph();
  return made;
}

}  // namespace orrery::passes
