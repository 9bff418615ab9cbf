#include "engine/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace orrery::graph {
namespace {

ValueKind kind_of(const OpSchema& op, std::string_view output) {
  if (output == "state") return ValueKind::state;
  if (op.family != OpFamily::source) return ValueKind::activation;
  if (op.name == "weight") return ValueKind::weight;
  return op.name == "constant" ? ValueKind::constant : ValueKind::input;
}

/// The spec of input i; the last one again for what a variadic input takes. Null when there are too many.
const InputSpec* spec_at(const OpSchema& op, size_t i) {
  if (i < op.inputs.size()) return &op.inputs[i];
  return !op.inputs.empty() && op.inputs.back().variadic ? &op.inputs.back() : nullptr;
}

Error no_such_value(ValueId value, const std::string& where) {
  return {ErrorCode::not_found, fmt::format("There is no value %{} in this graph", value.value), where, ""};
}

Error no_such_node(NodeId node) {
  return {ErrorCode::not_found, fmt::format("There is no node with the id {} in this graph", node.value), "",
          ""};
}

}  // namespace

Result<std::vector<ValueId>> Graph::checked_inputs(const OpSchema& schema, std::vector<ValueId> inputs,
                                                   const std::string& path) const {
  size_t fixed = schema.inputs.size();
  if (fixed > 0 && schema.inputs.back().variadic) --fixed;
  if (inputs.size() < fixed) inputs.resize(fixed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputSpec* spec = spec_at(schema, i);
    if (!spec)
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} takes {} inputs, not {}", schema.name, fixed, inputs.size()), path, ""};
    if (!inputs[i].valid() && !spec->optional)
      return Error{ErrorCode::invalid_argument, fmt::format("{} needs its input {}", schema.name, spec->name),
                   path, ""};
    if (inputs[i].valid() && !values_.contains(inputs[i])) return no_such_value(inputs[i], path);
  }
  return inputs;
}

Result<NodeId> Graph::add_node(NewNode request) {
  Node node;
  node.scope = std::move(request.scope);
  node.name = std::move(request.name);
  node.origins = std::move(request.origins);
  const std::string path = node.path();
  node.op = ops_->find(request.op);
  if (!node.op) return Error{ErrorCode::not_found, fmt::format("There is no op {}", request.op), path, ""};
  if (node.name.empty())
    return Error{ErrorCode::invalid_argument, fmt::format("A new {} has no name", request.op), node.scope,
                 "Give it one that is free in its scope"};
  if (paths_.contains(path))
    return Error{ErrorCode::invalid_argument, "This name is taken by another node", path,
                 "Choose another one"};
  auto attributes = complete_attributes(*node.op, std::move(request.attributes));
  if (!attributes) {
    Error error = std::move(attributes).error();
    error.where = path;
    return error;
  }
  node.attributes = std::move(attributes).value();
  ORRERY_ASSIGN(node.inputs, checked_inputs(*node.op, std::move(request.inputs), path));
  ORRERY_ASSIGN(auto types, infer(node));

  size_t place = order_.size();
  if (request.before.valid()) {
    if (!find(request.before)) return no_such_node(request.before);
    place = position(request.before);
    for (const ValueId input : node.inputs)
      if (input.valid()) place = std::max(place, position(values_.at(input).producer) + 1);
  }
  node.id = {next_node_++};
  const NodeId id = node.id;
  const std::vector<Value> values = make_outputs(node, std::move(types));
  insert(std::move(node), values, place);
  return id;
}

std::vector<Value> Graph::make_outputs(Node& node, std::vector<ValueType> types) {
  std::vector<Value> values;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string_view name = node.op->outputs[i];
    values.push_back({{next_value_++},
                      kind_of(*node.op, name),
                      std::string(name),
                      std::move(types[i]),
                      node.id,
                      static_cast<int>(i)});
    node.outputs.push_back(values.back().id);
  }
  return values;
}

Result<void> Graph::remove_node(NodeId id) {
  const Node* node = find(id);
  if (!node) return no_such_node(id);
  for (const ValueId output : node->outputs) {
    if (const auto uses = users(output); !uses.empty())
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} is used by {}", value_path(output), this->node(uses.front().node).path()),
                   node->path(), "Connect its users to something else first"};
    if (std::find(outputs_.begin(), outputs_.end(), output) != outputs_.end())
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} is an output of the graph", value_path(output)), node->path(),
                   "Set other outputs first"};
  }
  erase(id);
  return {};
}

Result<void> Graph::check_input(const Node& node, int input, ValueId value) const {
  if (input < 0 || static_cast<size_t>(input) >= node.inputs.size())
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("{} has {} inputs; there is no input {}", node.op->name, node.inputs.size(), input),
        node.path(), ""};
  const InputSpec& spec = *spec_at(*node.op, static_cast<size_t>(input));
  if (!value.valid()) {
    if (spec.optional) return {};
    return Error{ErrorCode::invalid_argument, fmt::format("{} needs its input {}", node.op->name, spec.name),
                 node.path(), "Connect another value instead"};
  }
  if (!values_.contains(value)) return no_such_value(value, node.path());
  return {};
}

Result<void> Graph::set_input(NodeId id, int input, ValueId value) {
  const Node* node = find(id);
  if (!node) return no_such_node(id);
  ORRERY_TRY(check_input(*node, input, value));
  if (value.valid()) ORRERY_TRY(move_before(values_.at(value).producer, id));
  replace_input(id, input, value);
  return {};
}

/// The producer and what it needs, as far as they come after the consumer, move to just before it in their
/// order.
Result<void> Graph::move_before(NodeId producer, NodeId consumer) {
  const size_t begin = position(consumer), end = position(producer);
  if (end < begin) return {};
  std::unordered_set<NodeId> needed{producer};
  std::vector<NodeId> moved, kept;
  for (size_t i = end + 1; i-- > begin;) {
    const NodeId id = order_[i];
    if (!needed.contains(id)) {
      kept.push_back(id);
      continue;
    }
    if (id == consumer)
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} depends on {}, so it cannot feed it: that would be a cycle",
                               node(producer).path(), node(consumer).path()),
                   node(consumer).path(), "Choose a value that is computed before it"};
    moved.push_back(id);
    for (const ValueId input : nodes_.at(id).inputs)
      if (input.valid()) needed.insert(values_.at(input).producer);
  }
  const auto place = std::copy(moved.rbegin(), moved.rend(), order_.begin() + static_cast<ptrdiff_t>(begin));
  std::copy(kept.rbegin(), kept.rend(), place);
  return {};
}

Result<void> Graph::set_attribute(NodeId id, const std::string& name, std::optional<Attribute> value) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return no_such_node(id);
  Node& node = found->second;
  Attributes attributes = node.attributes;
  attributes.erase(name);
  if (value) attributes.emplace(name, std::move(*value));
  auto checked = complete_attributes(*node.op, std::move(attributes));
  if (!checked) {
    Error error = std::move(checked).error();
    error.where = node.path();
    return error;
  }
  Node changed = node;
  changed.attributes = std::move(checked).value();
  if (node.is_source()) {  // nothing upstream to wait for: its type follows at once
    ORRERY_ASSIGN(auto types, infer(changed));
    for (size_t i = 0; i < types.size(); ++i) values_.at(node.outputs[i]).type = std::move(types[i]);
  }
  node.attributes = std::move(changed.attributes);
  return {};
}

Result<void> Graph::set_value_type(ValueId id, ValueType type) {
  const auto found = values_.find(id);
  if (found == values_.end()) return no_such_value(id, "");
  Value& value = found->second;
  if (!nodes_.at(value.producer).is_source())
    return Error{ErrorCode::invalid_argument,
                 fmt::format("The type of {} follows from its inputs and cannot be set", value_path(id)), "",
                 "Set the type of a weight, an input or a state"};
  value.type = std::move(type);
  return {};
}

size_t Graph::position(NodeId node) const {
  return static_cast<size_t>(std::find(order_.begin(), order_.end(), node) - order_.begin());
}

void Graph::insert(Node node, const std::vector<Value>& values, size_t place) {
  for (const Value& value : values) values_.insert_or_assign(value.id, value);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid()) users_[node.inputs[i]].push_back({node.id, static_cast<int>(i)});
  paths_.insert_or_assign(node.path(), node.id);
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(place), node.id);
  const NodeId id = node.id;
  nodes_.insert_or_assign(id, std::move(node));
}

void Graph::bring_back(const Graph& from, NodeId id, std::vector<ValueId> inputs, NodeId before) {
  Node node = from.node(id);
  std::vector<Value> values;
  for (const ValueId output : node.outputs) values.push_back(from.value(output));
  node.inputs = std::move(inputs);
  insert(std::move(node), values, before.valid() ? position(before) : order_.size());
}

void Graph::erase(NodeId id) {
  const auto found = nodes_.find(id);
  for (size_t i = 0; i < found->second.inputs.size(); ++i)
    if (found->second.inputs[i].valid()) replace_input(id, static_cast<int>(i), {});
  for (const ValueId output : found->second.outputs) {
    values_.erase(output);
    users_.erase(output);
  }
  paths_.erase(found->second.path());
  std::erase(order_, id);
  nodes_.erase(found);
}

void Graph::replace_input(NodeId id, int input, ValueId value) {
  ValueId& slot = nodes_.at(id).inputs[static_cast<size_t>(input)];
  if (slot.valid())
    std::erase_if(users_.at(slot), [&](const Use& use) { return use.node == id && use.input == input; });
  slot = value;
  if (value.valid()) users_[value].push_back({id, input});
}

}  // namespace orrery::graph
