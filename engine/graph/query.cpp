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

/// Whether `path`, cut off after some part, is `scope`.
bool begins_with(std::string_view path, std::string_view scope) {
  return path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '.');
}

/// As in_scope has it, without making the node's path. A name may have dots: "q_proj.weight".
bool is_within(const Node& node, std::string_view scope) {
  if (scope.empty() || begins_with(node.scope, scope)) return true;
  if (node.scope.empty()) return begins_with(node.name, scope);
  return scope.size() > node.scope.size() && begins_with(scope, node.scope) &&
         begins_with(node.name, scope.substr(node.scope.size() + 1));
}

}  // namespace

void put_input(Node& node, size_t input, ValueId value) {
  if (input == node.inputs.size()) node.inputs.emplace_back();
  node.inputs[input] = value;
  if (!value.valid() && input + 1 == node.inputs.size() && is_variadic(*node.op, input))
    node.inputs.pop_back();
}

std::string_view device_of(const Node& node) { return text_of(node, kDeviceAttribute); }
std::string_view precision_of(const Node& node) { return text_of(node, kPrecisionAttribute); }

std::string_view frame_of(const Node& node) { return text_of(node, kFrameAttribute); }
std::string_view note_of(const Node& node) { return text_of(node, kNoteAttribute); }

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

NodeId state_source(const Graph& graph, ValueId state) {
  for (const Value* value = graph.find_value(state); value;) {
    const Node& node = graph.node(value->producer);
    if (node.is_source()) return node.id;
    value = nullptr;
    for (const ValueId input : node.inputs)
      if (const Value* before = graph.find_value(input); before && before->kind == ValueKind::state) {
        value = before;
        break;
      }
  }
  return {};
}

const Node* Graph::find(NodeId id) const { return nodes_.find(id); }
const Value* Graph::find_value(ValueId id) const { return values_.find(id); }
const Node& Graph::node(NodeId id) const { return nodes_.at(id); }
const Value& Graph::value(ValueId id) const { return values_.at(id); }

bool Graph::is_read(ValueId value) const {
  const std::vector<Use>* uses = users_.find(value);
  return (uses && !uses->empty()) || std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
}

std::vector<Use> Graph::users(ValueId value) const {
  const std::vector<Use>* found = users_.find(value);
  if (!found) return {};
  std::vector<Use> uses = *found;
  if (uses.size() < 2) return uses;
  constexpr size_t kFew = 8;  // looking for so many is faster than a table of all
  const std::vector<size_t> places = uses.size() > kFew ? positions() : std::vector<size_t>();
  const auto place = [&](NodeId id) { return places.empty() ? position(id) : places[id.value]; };
  std::sort(uses.begin(), uses.end(), [&](const Use& a, const Use& b) {
    return a.node == b.node ? a.input < b.input : place(a.node) < place(b.node);
  });
  return uses;
}

NodeId Graph::find_path(std::string_view path) const {
  const auto found = paths_.get()->find(std::string(path));
  return found == paths_.get()->end() ? NodeId{} : found->second;
}

std::vector<NodeId> Graph::in_scope(std::string_view scope) const {
  std::vector<NodeId> inside;
  for (const NodeId id : order_)
    if (is_within(nodes_.at(id), scope)) inside.push_back(id);
  return inside;
}

std::vector<bool> Graph::live() const {
  std::vector<bool> needed(next_node_);  // by id
  const auto need = [&](ValueId value) {
    if (const Value* known = find_value(value)) needed[known->producer.value] = true;
  };
  for (const ValueId output : outputs_) need(output);
  std::vector<bool> alive(order_.size());
  for (size_t i = order_.size(); i-- > 0;) {
    if (!needed[order_[i].value]) continue;
    alive[i] = true;
    for (const ValueId input : nodes_.at(order_[i]).inputs) need(input);
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
