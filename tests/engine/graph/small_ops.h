// A few ops of no meaning, so that the graph is tested without the engine's.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/graph/transaction.h"

namespace orrery::graph::test {

using Types = Result<std::vector<ValueType>>;

inline int64_t whole(const NodeView& view, std::string_view name) {
  return std::get<int64_t>(view.attributes->find(name)->second);
}
inline Types infer_leaf(const NodeView& view) {
  return std::vector{ValueType{DType::f32, {kTokens, whole(view, "cols")}}};
}
inline Types infer_state(const NodeView&) { return std::vector{ValueType{DType::f16, {1, 64}}}; }
inline Types infer_sum(const NodeView& view) {
  if (*view.inputs[0] != *view.inputs[1])
    return Error{ErrorCode::shape_mismatch,
                 "a is " + to_string(view.inputs[0]->shape) + ", b is " + to_string(view.inputs[1]->shape),
                 "b", ""};
  return std::vector{*view.inputs[0]};
}
inline Types infer_widen(const NodeView& view) {
  ValueType type = *view.inputs[0];
  type.shape[1] = type.shape[1] * whole(view, "factor");
  return std::vector{type};
}
inline Types infer_split(const NodeView& view) {
  return std::vector<ValueType>(static_cast<size_t>(whole(view, "parts")), *view.inputs[0]);
}
inline Types infer_first(const NodeView& view) { return std::vector{*view.inputs[0]}; }
inline Cost cost_of_elements(const NodeView& view, const Bindings& bindings) {
  return {static_cast<double>(element_count(view.outputs[0]->shape, bindings).value_or(0)), 0};
}

inline std::shared_ptr<OpRegistry> small_ops() {
  const AttributeSpec cols{"cols", "Columns", {}, AttributeType::integer};
  return std::make_shared<OpRegistry>(std::vector<OpSchema>{
      {"weight", OpFamily::source, "", {}, {"dst"}, {cols}, infer_leaf},
      {"input", OpFamily::source, "", {}, {"value"}, {cols}, infer_leaf},
      {"state",
       OpFamily::source,
       "",
       {},
       {"state"},
       {{"name", "", {}, AttributeType::text}, {"layer", "", {}, AttributeType::integer}},
       infer_state},
      {"sum", OpFamily::elementwise, "", {{"a"}, {"b"}}, {"dst"}, {}, infer_sum, cost_of_elements},
      {"widen",
       OpFamily::elementwise,
       "",
       {{"src"}},
       {"dst"},
       {{"factor", "How much wider", Attribute(int64_t{2})}},
       infer_widen,
       cost_of_elements},
      {"scaled",
       OpFamily::elementwise,
       "",
       {{"src"}, {"bias", true}},
       {"dst"},
       {{"scale", "Factor", {}, AttributeType::real}},
       infer_first,
       cost_of_elements},
      {"join",
       OpFamily::elementwise,
       "",
       {{"src"}, {"more", false, true}},
       {"dst"},
       {},
       infer_first,
       cost_of_elements},
      {"split",
       OpFamily::elementwise,
       "",
       {{"src"}},
       {"p0", "p1", "p2"},
       {{"parts", "How many", {}, AttributeType::integer}},
       infer_split,
       cost_of_elements},
      {"write",
       OpFamily::elementwise,
       "",
       {{"state"}, {"src"}},
       {"state"},
       {},
       infer_first,
       cost_of_elements},
  });
}

/// Adds a node that must be legal; its first output.
inline ValueId add(Graph& graph, std::string op, std::string path, std::vector<ValueId> inputs,
                   Attributes attributes = {}, NodeId before = {}) {
  const size_t dot = path.rfind('.');
  std::string scope = dot == std::string::npos ? "" : path.substr(0, dot);
  auto node = graph.add_node({std::move(op),
                              std::move(scope),
                              path.substr(dot + 1),
                              std::move(attributes),
                              std::move(inputs),
                              {},
                              before});
  EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
  return node.ok() ? graph.node(*node).outputs.front() : ValueId{};
}

inline ValueId leaf(Graph& graph, std::string path, int64_t cols = 8) {
  return add(graph, "input", std::move(path), {}, {{"cols", cols}});
}

inline std::vector<std::string> paths(const Graph& graph) {
  std::vector<std::string> all;
  for (const NodeId id : graph.order()) all.push_back(graph.node(id).path());
  return all;
}

inline NodeId producer(const Graph& graph, ValueId value) { return graph.value(value).producer; }

}  // namespace orrery::graph::test
