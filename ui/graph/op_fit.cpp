#include "ui/graph/op_fit.h"

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr size_t kExamples = 24;  // nodes of an op that are tried: the first layer has one of each kind

const std::string* nameOf(const graph::Node& node) {
  const auto name = node.attributes.find("name");
  return name == node.attributes.end() ? nullptr : std::get_if<std::string>(&name->second);
}

}  // namespace

Result<std::vector<graph::ValueType>> inferOp(const graph::OpSchema& op, const graph::Attributes& attributes,
                                              const std::vector<const graph::ValueType*>& inputs) {
  for (size_t i = 0; i < op.inputs.size(); ++i)
    if (isRequired(op.inputs[i]) && (i >= inputs.size() || !inputs[i]))
      return Error{ErrorCode::invalid_argument, "The input " + op.inputs[i].name + " is missing",
                   op.inputs[i].name, ""};
  ORRERY_ASSIGN(const graph::Attributes completed, graph::complete_attributes(op, attributes));
  graph::NodeView view{&completed, inputs, {}};
  view.inputs.resize(std::max(inputs.size(), op.inputs.size()));
  return op.infer(view);
}

OpFitter::OpFitter(graph::GraphVersion graph) : graph_(std::move(graph)) {
  for (const NodeId id : graph_->order()) {
    const graph::Node& node = graph_->node(id);
    if (node.op->name == "input") {
      if (const std::string* name = nameOf(node)) stepInputs_.emplace(*name, node.outputs.front());
      continue;
    }
    std::vector<NodeId>& known = nodes_[node.op->name];
    if (known.size() < kExamples) known.push_back(id);
    ++uses_[node.op->name];
  }
}

const std::vector<NodeId>& OpFitter::nodesOf(const graph::OpSchema& op) const {
  static const std::vector<NodeId> kNone;
  const auto found = nodes_.find(op.name);
  return found == nodes_.end() ? kNone : found->second;
}

const graph::Value* OpFitter::stepInput(const std::string& name) const {
  const auto found = stepInputs_.find(name);
  return found == stepInputs_.end() ? nullptr : graph_->find_value(found->second);
}

/// What the value does not bring: attributes, inputs of the step, and whether more is needed.
void OpFitter::complete(const graph::OpSchema& op, int input, OpFit& fit) const {
  fit.input = input;
  const auto uses = uses_.find(op.name);
  fit.uses = uses == uses_.end() ? 0 : uses->second;
  for (const graph::AttributeSpec& spec : op.attributes) {
    if (spec.fallback || fit.attributes.contains(spec.name)) continue;
    fit.missing.push_back(spec.name);
  }
  fit.complete = fit.missing.empty();
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (static_cast<int>(i) == input || !isRequired(op.inputs[i])) continue;
    if (const graph::Value* value = stepInput(op.inputs[i].name))
      fit.given[op.inputs[i].name] = graph_->value_path(value->id);
    else
      fit.complete = false;
  }
}

OpFit OpFitter::alone(const graph::OpSchema& op) const {
  OpFit fit;
  for (const NodeId id : nodesOf(op)) {
    const graph::Node& example = graph_->node(id);
    for (const graph::AttributeSpec& spec : op.attributes)
      if (const auto has = example.attributes.find(spec.name);
          !spec.fallback && has != example.attributes.end())
        fit.attributes[spec.name] = has->second;
    break;
  }
  complete(op, -1, fit);
  return fit;
}

/// The other inputs and the attributes as nodes of the op have them, and where there are none, of the value's
/// own type.
std::vector<OpFitter::Trial> OpFitter::trialsOf(const graph::OpSchema& op, int input,
                                                const graph::ValueType& type) const {
  std::vector<Trial> trials;
  const auto place = static_cast<size_t>(input);
  const auto blank = [&] {
    Trial trial;
    trial.types.assign(op.inputs.size(), type);
    trial.has.assign(op.inputs.size(), false);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      trial.has[i] = i == place || isRequired(op.inputs[i]);
      if (const graph::Value* value = i == place ? nullptr : stepInput(op.inputs[i].name))
        trial.types[i] = value->type;
    }
    return trial;
  };
  for (const NodeId id : nodesOf(op)) {
    const graph::Node& example = graph_->node(id);
    Trial trial = blank();
    for (const graph::AttributeSpec& spec : op.attributes)
      if (const auto has = example.attributes.find(spec.name);
          !spec.fallback && has != example.attributes.end())
        trial.attributes[spec.name] = has->second;
    for (size_t i = 0; i < op.inputs.size() && i < example.inputs.size(); ++i) {
      const graph::Value* value = example.inputs[i].valid() ? graph_->find_value(example.inputs[i]) : nullptr;
      if (i != place && trial.has[i] && value) trial.types[i] = value->type;
    }
    trials.push_back(std::move(trial));
  }
  Trial plain = blank();
  if (!trials.empty()) plain.attributes = trials.front().attributes;
  trials.push_back(std::move(plain));
  return trials;
}

Result<std::vector<graph::ValueType>> OpFitter::infer(const graph::OpSchema& op, const Trial& trial) const {
  std::vector<const graph::ValueType*> inputs;
  for (size_t i = 0; i < trial.types.size(); ++i) inputs.push_back(trial.has[i] ? &trial.types[i] : nullptr);
  return inferOp(op, trial.attributes, inputs);
}

OpFit OpFitter::reading(const graph::OpSchema& op, const graph::ValueType& type) const {
  OpFit refused;
  refused.fits = false;
  for (size_t input = 0; input < op.inputs.size(); ++input) {
    const std::string& name = op.inputs[input].name;
    std::optional<Error> own;  // what the value itself is refused for
    bool blamesOther = false;
    for (const Trial& trial : trialsOf(op, static_cast<int>(input), type)) {
      const auto types = infer(op, trial);
      const bool needsAttributes = !graph::complete_attributes(op, trial.attributes).ok();
      if (types.ok() || needsAttributes) {
        OpFit fit;
        fit.attributes = trial.attributes;
        complete(op, static_cast<int>(input), fit);
        return fit;
      }
      if (types.error().where == name)
        own = types.error();
      else
        blamesOther = true;  // another of what was tried may be taken with this value
    }
    if (!own && blamesOther && input == 0) {
      OpFit fit;
      complete(op, 0, fit);
      return fit;
    }
    if (own && refused.refusal.empty()) refused.refusal = own->what;
  }
  if (op.inputs.empty()) refused.refusal = "It reads nothing";
  if (refused.refusal.empty()) refused.refusal = "None of its inputs takes it";
  complete(op, 0, refused);
  return refused;
}

OpFit OpFitter::between(const graph::OpSchema& op, const graph::ValueType& type,
                        const graph::Use& reader) const {
  OpFit fit = reading(op, type);
  if (!fit.fits || op.outputs.empty()) return fit;
  const graph::Node& node = graph_->node(reader.node);
  for (const Trial& trial : trialsOf(op, fit.input, type)) {
    const auto types = infer(op, trial);
    if (!types.ok() || types->empty()) continue;
    std::vector<const graph::ValueType*> inputs = graph_->view(node).inputs;
    inputs[static_cast<size_t>(reader.input)] = &types->front();
    const auto after = inferOp(*node.op, node.attributes, inputs);
    if (after.ok()) return fit;
    fit.refusal = after.error().what;
  }
  if (!fit.refusal.empty()) fit.fits = false;
  return fit;
}

bool isOffered(const graph::OpSchema& op) {
  return op.family != graph::OpFamily::source && op.name != graph::kTransferOp;
}

bool isOfferedSource(const graph::OpSchema& op) {
  return op.name == "input" || op.name == "constant" || op.name == "weight";
}

}  // namespace orrery::ui
