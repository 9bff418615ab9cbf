#include "engine/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace orrery::graph {
namespace {

ValueKind kind_of(const OpSchema& op, std::string_view output) {
  if (output == kStateName) return ValueKind::state;
  if (op.family != OpFamily::source) return ValueKind::activation;
  if (op.name == "weight") return ValueKind::weight;
  return op.name == "constant" ? ValueKind::constant : ValueKind::input;
}

Error no_such_value(ValueId value, const std::string& where) {
  return {ErrorCode::not_found, fmt::format("There is no value %{} in this graph", value.value), where, ""};
}

/// An input of that name takes a state, and nothing else does.
Result<void> check_kind(const InputSpec& spec, const Value& value, const std::string& value_path,
                        const std::string& path) {
  const bool is_state = value.kind == ValueKind::state;
  if ((spec.name == kStateName) == is_state) return {};
  if (is_state)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} is a state, which the input {} does not read", value_path, spec.name), path,
                 "Connect what a node computes of it"};
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} is {}, not a state", value_path, to_string(value.type)), path,
               "Connect a state, or what a node writes of one"};
}

Error name_taken(const std::string& path) {
  return {ErrorCode::invalid_argument, "This name is taken by another node", path, "Choose another one"};
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
    const InputSpec* spec = input_spec(schema, i);
    if (!spec)
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} takes {} inputs, not {}", schema.name, fixed, inputs.size()), path, ""};
    if (!inputs[i].valid() && !spec->optional)
      return Error{ErrorCode::invalid_argument, fmt::format("{} needs its input {}", schema.name, spec->name),
                   path, ""};
    if (!inputs[i].valid()) continue;
    const Value* value = values_.find(inputs[i]);
    if (!value) return no_such_value(inputs[i], path);
    ORRERY_TRY(check_kind(*spec, *value, value_path(inputs[i]), path));
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
  if (find_path(path).valid()) return name_taken(path);
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
  const auto place = static_cast<size_t>(input);
  const bool longer = place == node.inputs.size() && is_variadic(*node.op, place) && value.valid();
  if (input < 0 || (place >= node.inputs.size() && !longer))
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("{} has {} inputs; there is no input {}", node.op->name, node.inputs.size(), input),
        node.path(), ""};
  const InputSpec& spec = *input_spec(*node.op, place);
  if (!value.valid()) {
    const bool last = place + 1 == node.inputs.size() && is_variadic(*node.op, place);
    if (spec.optional || last) return {};
    return Error{ErrorCode::invalid_argument, fmt::format("{} needs its input {}", node.op->name, spec.name),
                 node.path(), "Connect another value instead"};
  }
  const Value* known = values_.find(value);
  if (!known) return no_such_value(value, node.path());
  return check_kind(spec, *known, value_path(value), node.path());
}

Result<void> Graph::set_input(NodeId id, int input, ValueId value) {
  const Node* node = find(id);
  if (!node) return no_such_node(id);
  ORRERY_TRY(check_input(*node, input, value));
  if (value.valid()) ORRERY_TRY(move_before(values_.at(value).producer, id));
  replace_input(id, input, value);
  return {};
}

/// The nodes after the consumer that the producer needs, itself too. Nothing when the consumer is one of
/// them.
std::optional<std::unordered_set<NodeId>> Graph::needed_after(NodeId producer, NodeId consumer) const {
  const size_t begin = position(consumer), end = position(producer);
  std::unordered_set<NodeId> found;
  if (end < begin) return found;
  std::unordered_set<NodeId> needed{producer};
  for (size_t i = end + 1; i-- > begin;) {
    const NodeId id = order_[i];
    if (!needed.contains(id)) continue;
    if (id == consumer) return std::nullopt;
    found.insert(id);
    for (const ValueId input : nodes_.at(id).inputs)
      if (input.valid()) needed.insert(values_.at(input).producer);
  }
  return found;
}

bool Graph::depends_on(NodeId node, NodeId other) const { return !needed_after(node, other); }

/// The producer and what it needs, as far as they come after the consumer, move to just before it in their
/// order.
Result<void> Graph::move_before(NodeId producer, NodeId consumer) {
  const auto late = needed_after(producer, consumer);
  if (!late)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} depends on {}, so it cannot feed it: that would be a cycle",
                             node(producer).path(), node(consumer).path()),
                 node(consumer).path(), "Choose a value that is computed before it"};
  if (late->empty()) return {};
  const auto begin = order_.begin() + static_cast<ptrdiff_t>(position(consumer));
  const auto end = order_.begin() + static_cast<ptrdiff_t>(position(producer)) + 1;
  std::stable_partition(begin, end, [&](NodeId id) { return late->contains(id); });
  return {};
}

void Graph::move_nodes(const std::vector<NodeId>& nodes, NodeId before) {
  const std::unordered_set<NodeId> moved(nodes.begin(), nodes.end());
  std::vector<NodeId> order;
  for (const NodeId id : order_)
    if (!moved.contains(id)) order.push_back(id);
  const auto place_of = [&](NodeId id) {
    return static_cast<size_t>(std::find(order.begin(), order.end(), id) - order.begin());
  };
  size_t least = 0, most = order.size();
  for (const NodeId id : nodes) {
    for (const ValueId input : nodes_.at(id).inputs)
      if (const Value* value = find_value(input); value && !moved.contains(value->producer))
        least = std::max(least, place_of(value->producer) + 1);
    for (const ValueId output : nodes_.at(id).outputs)
      if (const std::vector<Use>* uses = users_.find(output))
        for (const Use& use : *uses)
          if (!moved.contains(use.node)) most = std::min(most, place_of(use.node));
  }
  if (least > most) return;  // some other node is between two of them
  const size_t place = std::clamp(place_of(before), least, most);
  order.insert(order.begin() + static_cast<ptrdiff_t>(place), nodes.begin(), nodes.end());
  order_ = std::move(order);
}

Result<void> Graph::rename_node(NodeId id, std::string scope, std::string name) {
  const Node* node = find(id);
  if (!node) return no_such_node(id);
  const std::string path = scope.empty() ? name : scope + "." + name;
  if (name.empty())
    return Error{ErrorCode::invalid_argument, "The new name is empty", node->path(), "Choose another one"};
  if (const NodeId other = find_path(path); other.valid() && other != id) return name_taken(path);
  replace_path(id, std::move(scope), std::move(name));
  return {};
}

Result<void> Graph::set_attribute(NodeId id, const std::string& name, std::optional<Attribute> value) {
  const Node* found = find(id);
  if (!found) return no_such_node(id);
  const Node& node = *found;
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
    for (size_t i = 0; i < types.size(); ++i) values_.edit(node.outputs[i]).type = std::move(types[i]);
  }
  nodes_.edit(id).attributes = std::move(changed.attributes);
  return {};
}

Result<void> Graph::set_value_type(ValueId id, ValueType type) {
  const Value* value = find_value(id);
  if (!value) return no_such_value(id, "");
  if (!nodes_.at(value->producer).is_source())
    return Error{ErrorCode::invalid_argument,
                 fmt::format("The type of {} follows from its inputs and cannot be set", value_path(id)), "",
                 "Set the type of a weight, an input or a state"};
  values_.edit(id).type = std::move(type);
  return {};
}

size_t Graph::position(NodeId node) const {
  return static_cast<size_t>(std::find(order_.begin(), order_.end(), node) - order_.begin());
}

std::vector<size_t> Graph::positions() const {
  std::vector<size_t> places(next_node_);
  for (size_t i = 0; i < order_.size(); ++i) places[order_[i].value] = i;
  return places;
}

void Graph::insert(Node node, const std::vector<Value>& values, size_t place) {
  for (const Value& value : values) values_.put(value.id, value);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid()) users_.make(node.inputs[i]).push_back({node.id, static_cast<int>(i)});
  paths_.edit().insert_or_assign(node.path(), node.id);
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(place), node.id);
  const NodeId id = node.id;
  nodes_.put(id, std::move(node));
}

void Graph::bring_back(const Graph& from, NodeId id, std::vector<ValueId> inputs, NodeId before) {
  Node node = from.node(id);
  std::vector<Value> values;
  for (const ValueId output : node.outputs) values.push_back(from.value(output));
  node.inputs = std::move(inputs);
  next_node_ = std::max(next_node_, id.value + 1);  // a later version's ids are not known here
  for (const Value& value : values) next_value_ = std::max(next_value_, value.id.value + 1);
  insert(std::move(node), values, before.valid() ? position(before) : order_.size());
}

void Graph::erase(NodeId id) {
  for (size_t i = nodes_.at(id).inputs.size(); i-- > 0;) replace_input(id, static_cast<int>(i), {});
  const Node& node = nodes_.at(id);
  for (const ValueId output : node.outputs) {
    values_.erase(output);
    users_.erase(output);
  }
  paths_.edit().erase(node.path());
  std::erase(order_, id);
  nodes_.erase(id);
}

void Graph::replace_input(NodeId id, int input, ValueId value) {
  Node& node = nodes_.edit(id);
  const auto place = static_cast<size_t>(input);
  if (const ValueId before = place < node.inputs.size() ? node.inputs[place] : ValueId{}; before.valid())
    std::erase_if(users_.edit(before), [&](const Use& use) { return use.node == id && use.input == input; });
  put_input(node, place, value);
  if (value.valid()) users_.make(value).push_back({id, input});
}

void Graph::replace_path(NodeId id, std::string scope, std::string name) {
  Node& node = nodes_.edit(id);
  paths_.edit().erase(node.path());
  node.scope = std::move(scope);
  node.name = std::move(name);
  paths_.edit().insert_or_assign(node.path(), id);
}

}  // namespace orrery::graph
