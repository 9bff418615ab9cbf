// What depends on constants only is computed: scale, add, mul of constants of one value each, of any size,
// and any other op of small tensors by its own kernels. scale(scale(x)) is one scale, and steps that change
// nothing go: scale by 1, add of 0, mul by 1, a cast to the own type, a reshape to the own shape.
#include <array>
#include <cmath>
#include <optional>

#include "engine/ops/constant.h"
#include "engine/ops/evaluate.h"
#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

/// The number that all elements of an f32 constant are.
std::optional<double> constant(const graph::Graph& graph, ValueId value) {
  const graph::Node* node = producer_of(graph, value, "constant");
  const auto* data = node ? attribute<std::vector<double>>(*node, "data") : nullptr;
  if ((data && !data->empty()) || graph.value(value).type.dtype != DType::f32) return std::nullopt;
  const double* number = node ? attribute<double>(*node, "value") : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

/// The value of every element of a node's result, when it follows from constants.
std::optional<double> computed(const graph::Graph& graph, const graph::Node& node) {
  const std::string_view op = node.op->name;
  if (op != "scale" && op != "add" && op != "mul") return std::nullopt;
  const std::optional<double> a = constant(graph, node.inputs[0]);
  if (!a) return std::nullopt;
  if (op == "scale") {
    const double* factor = attribute<double>(node, "factor");
    return factor ? std::optional(*a * *factor) : std::nullopt;
  }
  const std::optional<double> b = constant(graph, node.inputs[1]);
  if (!b) return std::nullopt;
  return op == "add" ? *a + *b : *a * *b;
}

/// The input that a node hands on unchanged; none when it changes something.
ValueId unchanged(const graph::Graph& graph, const graph::Node& node) {
  const std::string_view op = node.op->name;
  if (op == "scale") {
    const double* factor = attribute<double>(node, "factor");
    return factor && *factor == 1.0 ? node.inputs[0] : ValueId{};
  }
  if (op == "cast" || op == "reshape")
    return graph.value(node.inputs[0]).type == graph.value(node.outputs[0]).type ? node.inputs[0] : ValueId{};
  if (op != "add" && op != "mul") return {};
  const double neutral = op == "add" ? 0.0 : 1.0;
  for (const size_t side : {0U, 1U})
    if (constant(graph, node.inputs[1 - side]) == neutral &&
        graph.value(node.inputs[side]).type == graph.value(node.outputs[0]).type)
      return node.inputs[side];
  return {};
}

std::optional<std::vector<int64_t>> fixed_shape(const graph::ValueType& type) {
  std::vector<int64_t> shape;
  for (const Dim& dim : type.shape) {
    if (!dim.is_constant()) return std::nullopt;
    shape.push_back(dim.constant());
  }
  return shape;
}

/// The constant that a node's result is; nothing where it is none.
std::optional<graph::Attributes> folded(const graph::Graph& graph, const graph::Node& node) {
  const graph::ValueType& type = graph.value(node.outputs[0]).type;
  const auto shape = fixed_shape(type);
  if (!shape) return std::nullopt;
  if (const std::optional<double> number = computed(graph, node); number && std::isfinite(*number))
    return graph::Attributes{{"value", *number}, {"shape", *shape}};
  const auto bytes = ops::evaluate(graph, node);
  return bytes ? ops::constant_attributes(type, bytes->data()) : std::nullopt;
}

Result<bool> fold(graph::Graph& graph, const graph::Node& node) {
  std::optional<graph::Attributes> attributes = folded(graph, node);
  if (!attributes) return false;
  const NodeId old = node.id;
  graph::Graph::NewNode constant;
  constant.op = "constant";
  constant.scope = node.scope;
  constant.name = free_name(graph, node.scope, node.name + "_folded");
  constant.attributes = std::move(*attributes);
  constant.origins = origins_of(graph, std::array{old});
  constant.before = old;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(constant)));
  ORRERY_TRY(replace_value(graph, graph.node(old).outputs[0], graph.node(id).outputs[0]));
  ORRERY_TRY(graph.remove_node(old));
  return true;
}

/// scale(scale(x)): the outer one takes both factors and reads x.
Result<bool> join_scales(graph::Graph& graph, const graph::Node& outer) {
  if (outer.op->name != "scale") return false;
  const graph::Node* inner = producer_of(graph, outer.inputs[0], "scale");
  if (!inner || !asked_alike(*inner, outer) || only_user(graph, inner->outputs[0]) != outer.id) return false;
  const double *a = attribute<double>(outer, "factor"), *b = attribute<double>(*inner, "factor");
  if (!a || !b || !std::isfinite(*a * *b)) return false;
  const NodeId outer_id = outer.id, inner_id = inner->id;
  const double factor = *a * *b;
  graph::Graph::NewNode joined;
  joined.op = "scale";
  joined.scope = outer.scope;
  joined.name = free_name(graph, outer.scope, outer.name + "_joined");
  joined.attributes = {{"factor", factor}};
  keep_asked(outer, joined.attributes);
  joined.inputs = {inner->inputs[0]};
  joined.origins = origins_of(graph, std::array{inner_id, outer_id});
  joined.before = outer_id;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(joined)));
  ORRERY_TRY(replace_value(graph, graph.node(outer_id).outputs[0], graph.node(id).outputs[0]));
  ORRERY_TRY(graph.remove_node(outer_id));
  ORRERY_TRY(graph.remove_node(inner_id));
  return true;
}

Result<bool> drop_unchanged(graph::Graph& graph, const graph::Node& node) {
  const ValueId input = unchanged(graph, node);
  if (!input.valid()) return false;
  const NodeId id = node.id;
  ORRERY_TRY(replace_value(graph, node.outputs[0], input));
  ORRERY_TRY(graph.remove_node(id));
  return true;
}

}  // namespace

Result<int> fold_constants(graph::Graph& graph) {
  int rewrites = 0;
  for (const NodeId id : std::vector(graph.order())) {
    for (Result<bool> (*rule)(graph::Graph&, const graph::Node&) : {fold, drop_unchanged, join_scales}) {
      const graph::Node* node = graph.find(id);
      if (!node || node->is_source()) break;
      ORRERY_ASSIGN(const bool done, rule(graph, *node));
      rewrites += done ? 1 : 0;
    }
  }
  return rewrites;
}

}  // namespace orrery::passes
