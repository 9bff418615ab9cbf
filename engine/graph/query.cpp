#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/graph.h"

namespace orrery::graph {

namespace {

std::string_view text_of(const Node& node, std::string_view attribute) {
  const auto found = node.attributes.find(attribute);
  const auto* text = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text ? std::string_view(*text) : std::string_view();
}

}  // namespace

std::string_view device_of(const Node& node) { return text_of(node, kDeviceAttribute); }
std::string_view precision_of(const Node& node) { return text_of(node, kPrecisionAttribute); }

std::optional<DType> stored_as(const Node& node) {
  const std::string_view name = text_of(node, kStoredAttribute);
  for (const DType dtype : {DType::bf16, DType::f16})
    if (name == name_of(dtype)) return dtype;
  return std::nullopt;
}

std::string_view common_precision(const Graph& graph) {
  std::unordered_map<std::string_view, int> counts;
  std::string_view common;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.is_source()) continue;
    const std::string_view asked = precision_of(node);
    const int count = ++counts[asked];
    if (count > counts[common]) common = asked;
  }
  return common;
}

const Node* Graph::find(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Value* Graph::find_value(ValueId id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : &found->second;
}

const Node& Graph::node(NodeId id) const { return nodes_.at(id); }
const Value& Graph::value(ValueId id) const { return values_.at(id); }

bool Graph::is_read(ValueId value) const {
  const auto uses = users_.find(value);
  return (uses != users_.end() && !uses->second.empty()) ||
         std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
}

std::vector<Use> Graph::users(ValueId value) const {
  const auto found = users_.find(value);
  if (found == users_.end()) return {};
  std::vector<Use> uses = found->second;
  if (uses.size() < 2) return uses;
  std::unordered_map<NodeId, size_t> places;
  for (const Use& use : uses) places.try_emplace(use.node, 0);
  for (auto& [node, place] : places) place = position(node);
  std::sort(uses.begin(), uses.end(), [&](const Use& a, const Use& b) {
    return std::pair(places[a.node], a.input) < std::pair(places[b.node], b.input);
  });
  return uses;
}

NodeId Graph::find_path(std::string_view path) const {
  const auto found = paths_.find(std::string(path));
  return found == paths_.end() ? NodeId{} : found->second;
}

std::vector<NodeId> Graph::in_scope(std::string_view scope) const {
  std::vector<NodeId> inside;
  for (const NodeId id : order_) {
    const std::string path = node(id).path();
    if (scope.empty() || path == scope || (path.starts_with(scope) && path[scope.size()] == '.'))
      inside.push_back(id);
  }
  return inside;
}

std::vector<bool> Graph::live() const {
  std::unordered_set<NodeId> needed;
  for (const ValueId output : outputs_)
    if (const Value* value = find_value(output)) needed.insert(value->producer);
  std::vector<bool> alive(order_.size());
  for (size_t i = order_.size(); i-- > 0;) {
    if (!needed.contains(order_[i])) continue;
    alive[i] = true;
    for (const ValueId input : node(order_[i]).inputs)
      if (const Value* value = find_value(input)) needed.insert(value->producer);
  }
  return alive;
}

NodeView Graph::view(const Node& node) const {
  NodeView view{&node.attributes, {}, {}};
  for (const ValueId input : node.inputs) {
    const Value* value = find_value(input);
    view.inputs.push_back(value ? &value->type : nullptr);
  }
  for (const ValueId output : node.outputs) {
    view.outputs.push_back(&value(output).type);
    view.is_read.push_back(is_read(output));
  }
  return view;
}

Cost Graph::cost(NodeId id, const Bindings& bindings) const {
  const Node& node = this->node(id);
  if (!node.op->cost) return {};
  Cost cost = node.op->cost(view(node), bindings);
  const auto add = [&](ValueId id) {
    const Value* value = find_value(id);
    if (value && (value->kind == ValueKind::activation || value->kind == ValueKind::input))
      cost.activations += bytes_of(value->type, bindings);
  };
  for (const ValueId input : node.inputs) add(input);
  for (const ValueId output : node.outputs) add(output);
  cost.activations = std::min(cost.activations, cost.bytes);
  return cost;
}

std::string Graph::value_path(ValueId id) const {
  const Value* value = find_value(id);
  if (!value) return "%" + std::to_string(id.value);
  return node(value->producer).path() + ":" + value->name;
}

std::string to_string(const ValueType& type) {
  return std::string(name_of(type.dtype)) + to_string(type.shape);
}

double bytes_of(const ValueType& type, const Bindings& bindings) {
  if (type.shape.empty()) return static_cast<double>(row_bytes(type.dtype, 1).value_or(0));
  const auto cols = type.shape.back().evaluate(bindings);
  const auto count = element_count(type.shape, bindings);
  if (!cols || !count || *cols <= 0) return 0;
  const auto row = row_bytes(type.dtype, *cols);
  return row ? static_cast<double>(*row) * static_cast<double>(*count / *cols) : 0;
}

}  // namespace orrery::graph
