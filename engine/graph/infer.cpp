#include <fmt/format.h>

#include "engine/graph/graph.h"

namespace orrery::graph {
namespace {

/// Which input of the node the schema's error speaks of: the first of that name.
size_t input_named(const OpSchema& op, std::string_view name) {
  size_t i = 0;
  while (i < op.inputs.size() && op.inputs[i].name != name) ++i;
  return i;
}

/// What the op gives, stored as the node says.
Result<void> store(const Node& node, std::vector<ValueType>& types) {
  const std::optional<DType> stored = stored_as(node);
  if (!stored) return {};
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string& output = node.op->outputs[i];
    if (types[i].dtype != DType::f32 || output == kStateName)
      return Error{ErrorCode::invalid_argument,
                   fmt::format("Its output {} is {}, which is not stored as {}", output, to_string(types[i]),
                               name_of(*stored)),
                   node.path(), fmt::format("Remove its attribute {}", kStoredAttribute)};
    types[i].dtype = *stored;
  }
  return {};
}

}  // namespace

Result<std::vector<ValueType>> Graph::infer(const Node& node) const {
  NodeView view{&node.attributes, {}, {}};
  for (const ValueId input : node.inputs) view.inputs.push_back(input.valid() ? &value(input).type : nullptr);
  auto types = node.op->infer(view);
  if (!types) {
    Error error = std::move(types).error();
    const size_t input = input_named(*node.op, error.where);
    if (input < node.inputs.size() && node.inputs[input].valid())
      error.where = fmt::format("{}, {} from {}", node.path(), error.where, value_path(node.inputs[input]));
    else
      error.where = node.path();
    return error;
  }
  if (types->size() > node.op->outputs.size())
    return Error{ErrorCode::internal,
                 fmt::format("The op {} names {} outputs but makes {}", node.op->name,
                             node.op->outputs.size(), types->size()),
                 node.path(), ""};
  ORRERY_TRY(store(node, types.value()));
  return types;
}

Result<std::vector<ValueType>> Graph::infer(NodeId id) const { return infer(node(id)); }

Result<std::vector<ValueType>> Graph::infer_with(NodeId id, int input, ValueId value) const {
  const Node& now = node(id);
  ORRERY_TRY(check_input(now, input, value));
  Node changed = now;
  put_input(changed, static_cast<size_t>(input), value);
  return infer(changed);
}

Result<void> Graph::infer_types() {
  for (const NodeId id : order_) {
    const Node& node = nodes_.at(id);
    if (node.is_source()) continue;
    ORRERY_ASSIGN(auto types, infer(node));
    if (types.size() != node.outputs.size())
      return Error{ErrorCode::invalid_argument,
                   fmt::format("It would have {} outputs instead of {}", types.size(), node.outputs.size()),
                   node.path(), "Make a new node instead"};
    for (size_t i = 0; i < types.size(); ++i)
      if (value(node.outputs[i]).type != types[i]) values_.edit(node.outputs[i]).type = std::move(types[i]);
  }
  return {};
}

}  // namespace orrery::graph
