#include "engine/graph/transaction.h"

#include <fmt/format.h>

namespace orrery::graph {
namespace {

std::optional<Attribute> attribute_of(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? std::nullopt : std::optional(found->second);
}

void put(Attributes& attributes, const std::string& name, const std::optional<Attribute>& value) {
  if (value)
    attributes.insert_or_assign(name, *value);
  else
    attributes.erase(name);
}

}  // namespace

Transaction::Transaction(Graph& graph, std::string name)
    : graph_(graph),
      journal_{std::move(name), {}},
      next_node_(graph.next_node_),
      next_value_(graph.next_value_) {}

Transaction::~Transaction() {
  if (!committed_) roll_back();
}

Result<NodeId> Transaction::add_node(Graph::NewNode request) {
  ORRERY_ASSIGN(const NodeId id, graph_.add_node(std::move(request)));
  Change change{};
  change.kind = Change::Kind::add_node;
  change.node = graph_.node(id);
  for (const ValueId output : change.node.outputs) change.values.push_back(graph_.value(output));
  change.position = graph_.position(id);
  journal_.changes.push_back(std::move(change));
  changed_.insert(id);
  return id;
}

Result<void> Transaction::remove_node(NodeId id) {
  Change change{};
  change.kind = Change::Kind::remove_node;
  if (const Node* node = graph_.find(id)) {
    change.node = *node;
    for (const ValueId output : node->outputs) change.values.push_back(graph_.value(output));
    change.position = graph_.position(id);
  }
  ORRERY_TRY(graph_.remove_node(id));
  journal_.changes.push_back(std::move(change));
  return {};
}

Result<void> Transaction::set_input(NodeId id, int input, ValueId value) {
  Change change{};
  change.kind = Change::Kind::set_input;
  change.node.id = id;
  change.input = input;
  change.value_after = value;
  if (const Node* node = graph_.find(id);
      node && input >= 0 && static_cast<size_t>(input) < node->inputs.size())
    change.value_before = node->inputs[static_cast<size_t>(input)];
  std::vector<NodeId> order = graph_.order_;
  ORRERY_TRY(graph_.set_input(id, input, value));
  if (order != graph_.order_) {
    change.order_before = std::move(order);
    change.order_after = graph_.order_;
  }
  journal_.changes.push_back(std::move(change));
  changed_.insert(id);
  return {};
}

Result<void> Transaction::set_attribute(NodeId id, const std::string& name, std::optional<Attribute> value) {
  Change change{};
  change.kind = Change::Kind::set_attribute;
  change.node.id = id;
  change.attribute = name;
  Value source;
  if (const Node* node = graph_.find(id)) {
    change.attribute_before = attribute_of(*node, name);
    if (node->is_source() && !node->outputs.empty()) source = graph_.value(node->outputs.front());
  }
  ORRERY_TRY(graph_.set_attribute(id, name, std::move(value)));
  change.attribute_after = attribute_of(graph_.node(id), name);
  journal_.changes.push_back(std::move(change));
  changed_.insert(id);
  if (source.id.valid()) {  // the type of a source follows its attributes: a change of its own in the journal
    ValueType type = graph_.value(source.id).type;
    set_type(graph_, source);
    change_type(source.id, std::move(type));
  }
  return {};
}

Result<void> Transaction::set_value_type(ValueId id, ValueType type) {
  const Value* value = graph_.find_value(id);
  if (!value) return graph_.set_value_type(id, std::move(type));
  const Value before = *value;
  ORRERY_TRY(graph_.set_value_type(id, type));
  set_type(graph_, before);
  change_type(id, std::move(type));
  return {};
}

void Transaction::set_outputs(std::vector<ValueId> outputs) {
  Change change{};
  change.kind = Change::Kind::set_outputs;
  change.outputs_before = graph_.outputs_;
  change.outputs_after = outputs;
  graph_.set_outputs(std::move(outputs));
  journal_.changes.push_back(std::move(change));
}

Result<void> Transaction::rename_node(NodeId id, std::string scope, std::string name) {
  Change change{};
  change.kind = Change::Kind::rename_node;
  change.node.id = id;
  if (const Node* node = graph_.find(id)) {
    change.scope_before = node->scope;
    change.name_before = node->name;
  }
  change.scope_after = scope;
  change.name_after = name;
  ORRERY_TRY(graph_.rename_node(id, std::move(scope), std::move(name)));
  journal_.changes.push_back(std::move(change));
  return {};
}

void Transaction::move_nodes(const std::vector<NodeId>& nodes, NodeId before) {
  Change change{};
  change.kind = Change::Kind::move_nodes;
  change.order_before = graph_.order_;
  graph_.move_nodes(nodes, before);
  if (graph_.order_ == change.order_before) return;
  change.order_after = graph_.order_;
  journal_.changes.push_back(std::move(change));
}

void Transaction::set_type(Graph& graph, const Value& value) {
  graph.values_.edit(value.id).type = value.type;
}

void Transaction::change_type(ValueId id, ValueType type) {
  const Value& before = graph_.value(id);
  if (before.type == type) return;
  Change change{};
  change.kind = Change::Kind::set_value_type;
  change.node.id = before.producer;
  change.values = {before, before};
  change.values[1].type = std::move(type);
  set_type(graph_, change.values[1]);
  journal_.changes.push_back(std::move(change));
  if (const std::vector<Use>* uses = graph_.users_.find(id))
    for (const Use& use : *uses) changed_.insert(use.node);
}

/// In order, so that a type that changes is seen by what comes after.
Result<void> Transaction::infer_changed() {
  if (changed_.empty()) return {};
  for (const NodeId id : graph_.order_) {
    if (!changed_.contains(id)) continue;
    const Node& node = graph_.node(id);
    if (node.is_source()) continue;
    ORRERY_ASSIGN(auto types, graph_.infer(node));
    if (types.size() != node.outputs.size())
      return Error{ErrorCode::invalid_argument,
                   fmt::format("It would have {} outputs instead of {}", types.size(), node.outputs.size()),
                   node.path(), "Make a new node instead"};
    for (size_t i = 0; i < types.size(); ++i) change_type(node.outputs[i], std::move(types[i]));
  }
  return {};
}

Result<Journal> Transaction::commit() {
  auto inferred = infer_changed();
  if (!inferred) {
    roll_back();
    return std::move(inferred).error();
  }
  auto problems = verify_changed(graph_, std::vector(changed_.begin(), changed_.end()));
  if (!problems.empty()) {
    roll_back();
    return std::move(problems.front().error);
  }
  committed_ = true;
  return std::move(journal_);
}

/// The graph is as if nothing had been tried: ids of what was added are handed out again.
void Transaction::roll_back() {
  undo(graph_, journal_);
  journal_.changes.clear();
  changed_.clear();
  graph_.next_node_ = next_node_;
  graph_.next_value_ = next_value_;
}

void Transaction::apply(Graph& graph, const Change& change) {
  switch (change.kind) {
    case Change::Kind::add_node:
      graph.insert(change.node, change.values, change.position);
      break;
    case Change::Kind::remove_node:
      graph.erase(change.node.id);
      break;
    case Change::Kind::set_input:
      graph.replace_input(change.node.id, change.input, change.value_after);
      if (!change.order_after.empty()) graph.order_ = change.order_after;
      break;
    case Change::Kind::set_attribute:
      put(graph.nodes_.edit(change.node.id).attributes, change.attribute, change.attribute_after);
      break;
    case Change::Kind::set_value_type:
      set_type(graph, change.values[1]);
      break;
    case Change::Kind::set_outputs:
      graph.outputs_ = change.outputs_after;
      break;
    case Change::Kind::rename_node:
      graph.replace_path(change.node.id, change.scope_after, change.name_after);
      break;
    case Change::Kind::move_nodes:
      graph.order_ = change.order_after;
      break;
  }
}

void Transaction::take_back(Graph& graph, const Change& change) {
  switch (change.kind) {
    case Change::Kind::add_node:
      graph.erase(change.node.id);
      break;
    case Change::Kind::remove_node:
      graph.insert(change.node, change.values, change.position);
      break;
    case Change::Kind::set_input:
      graph.replace_input(change.node.id, change.input, change.value_before);
      if (!change.order_before.empty()) graph.order_ = change.order_before;
      break;
    case Change::Kind::set_attribute:
      put(graph.nodes_.edit(change.node.id).attributes, change.attribute, change.attribute_before);
      break;
    case Change::Kind::set_value_type:
      set_type(graph, change.values[0]);
      break;
    case Change::Kind::set_outputs:
      graph.outputs_ = change.outputs_before;
      break;
    case Change::Kind::rename_node:
      graph.replace_path(change.node.id, change.scope_before, change.name_before);
      break;
    case Change::Kind::move_nodes:
      graph.order_ = change.order_before;
      break;
  }
}

void undo(Graph& graph, const Journal& journal) {
  for (auto change = journal.changes.rbegin(); change != journal.changes.rend(); ++change)
    Transaction::take_back(graph, *change);
}

void redo(Graph& graph, const Journal& journal) {
  for (const Change& change : journal.changes) Transaction::apply(graph, change);
}

}  // namespace orrery::graph
