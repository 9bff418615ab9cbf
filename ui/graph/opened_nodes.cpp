#include "ui/graph/opened_nodes.h"

#include <algorithm>
#include <vector>

namespace orrery::ui {
namespace {

using Values = std::unordered_map<ValueId, ValueId>;

/// The model graph as it is asked about for each node.
class Origins {
 public:
  explicit Origins(const graph::Graph& model)
      : model_(model), given_(model.outputs().begin(), model.outputs().end()) {
    for (size_t i = 0; i < model.order().size(); ++i) places_.emplace(model.order()[i], i);
  }

  /// Of a fused node, in the order of the model graph.
  std::vector<NodeId> of(const graph::Node& node) const {
    std::vector<NodeId> origins;
    for (const graph::Origin& origin : node.origins)
      if (places_.contains(origin.node)) origins.push_back(origin.node);
    std::ranges::sort(origins, {}, [this](NodeId id) { return places_.at(id); });
    return origins;
  }

  /// What they make and others read.
  std::vector<ValueId> madeForOthers(const std::vector<NodeId>& origins) const {
    const std::unordered_set<NodeId> inside(origins.begin(), origins.end());
    std::vector<ValueId> made;
    for (const NodeId id : origins)
      for (const ValueId output : model_.node(id).outputs) {
        const std::vector<graph::Use> users = model_.users(output);
        const bool leaves = std::ranges::any_of(
            users, [&inside](const graph::Use& use) { return !inside.contains(use.node); });
        if (leaves || given_.contains(output)) made.push_back(output);
      }
    return made;
  }

  /// Adds to `values` those of the model graph by those of the node that stand for them: its outputs are in
  /// the order of what it computes. Where some are not read, or no longer, by their shapes.
  void pair(const graph::Graph& fused, const graph::Node& node, Values& values) const {
    std::vector<ValueId> made = madeForOthers(of(node));
    std::vector<ValueId> read = node.outputs;
    if (made.size() != read.size())
      std::erase_if(read, [&fused](ValueId output) { return !fused.is_read(output); });
    for (const ValueId output : read) {
      const auto same = std::ranges::find_if(made, [&](ValueId value) {
        return model_.value(value).type.shape == fused.value(output).type.shape;
      });
      if (same == made.end()) continue;
      values.emplace(output, *same);
      made.erase(same);
    }
  }

 private:
  const graph::Graph& model_;
  std::unordered_map<NodeId, size_t> places_;
  std::unordered_set<ValueId> given_;  // outputs of the graph
};

/// The graph with some nodes opened, put together in the order of the fused one.
class Opening {
 public:
  Opening(const graph::Graph& fused, const graph::Graph& model, const std::set<std::string>& paths)
      : fused_(fused), model_(model), origins_(model), graph_(fused.shared_ops()) {
    for (const NodeId id : fused.order())
      if (!fused.node(id).origins.empty()) origins_.pair(fused, fused.node(id), standsFor_);
    for (const auto& [output, value] : standsFor_) standsIn_.emplace(value, output);
    for (const NodeId id : fused.order())
      if (paths.contains(fused.node(id).path()) && fits(fused.node(id))) opened_.insert(id);
  }

  bool any() const { return !opened_.empty(); }

  OpenedNodes made() {
    for (const NodeId id : fused_.order()) opened_.contains(id) ? open(fused_.node(id)) : keep(id);
    std::vector<ValueId> outputs;
    for (const ValueId output : fused_.outputs()) outputs.push_back(here(output));
    graph_.set_outputs(std::move(outputs));
    result_.graph = std::make_shared<const graph::Graph>(std::move(graph_));
    return std::move(result_);
  }

 private:
  /// All that others read of it and all that its origins read is known.
  bool fits(const graph::Node& node) const {
    if (!canOpen(model_, node)) return false;
    for (const ValueId output : node.outputs)
      if (fused_.is_read(output) && !standsFor_.contains(output)) return false;
    const std::vector<NodeId> origins = origins_.of(node);
    const std::unordered_set<NodeId> inside(origins.begin(), origins.end());
    for (const NodeId id : origins)
      for (const ValueId input : model_.node(id).inputs) {
        if (!input.valid() || fused_.find_value(input) || standsIn_.contains(input)) continue;
        const NodeId producer = model_.value(input).producer;
        if (!inside.contains(producer) && !model_.node(producer).is_source()) return false;
      }
    return true;
  }

  void keep(NodeId id) {
    if (graph_.find(id)) return;  // a weight that came with its reader
    std::vector<ValueId> inputs = fused_.node(id).inputs;
    for (ValueId& input : inputs) input = here(input);
    graph_.bring_back(fused_, id, std::move(inputs), {});
  }

  void open(const graph::Node& node) {
    const std::string scope = node.path();
    result_.scopes.insert(scope);
    for (const graph::Origin& origin : node.origins) result_.shares[origin.node] += origin.share;
    for (const NodeId id : origins_.of(node)) {
      if (graph_.find(id)) continue;  // of two nodes that are opened
      const graph::Node& origin = model_.node(id);
      std::vector<ValueId> inputs = origin.inputs;
      for (ValueId& input : inputs) input = fromModel(input);
      graph_.bring_back(model_, id, std::move(inputs), {});
      const std::string name = graph_.find_path(scope + "." + origin.name).valid()
                                   ? origin.name + "_" + std::to_string(id.value)
                                   : origin.name;
      [[maybe_unused]] const auto renamed = graph_.rename_node(id, scope, name);  // the name is free
    }
  }

  /// A value of the fused graph as it is here.
  ValueId here(ValueId value) const {
    const graph::Value* wanted = value.valid() ? fused_.find_value(value) : nullptr;
    return wanted && opened_.contains(wanted->producer) ? standsFor_.at(value) : value;
  }

  /// The same of one of the model graph; a weight that only the model graph reads comes with its reader.
  ValueId fromModel(ValueId value) {
    if (!value.valid() || fused_.find_value(value)) return value;
    if (const auto output = standsIn_.find(value); output != standsIn_.end()) return here(output->second);
    const NodeId producer = model_.value(value).producer;
    if (model_.node(producer).is_source() && !graph_.find(producer))
      graph_.bring_back(model_, producer, {}, {});
    return value;
  }

  const graph::Graph& fused_;
  const graph::Graph& model_;
  const Origins origins_;
  graph::Graph graph_;
  OpenedNodes result_;
  std::unordered_set<NodeId> opened_;
  Values standsFor_, standsIn_;  // of the fused graph's values the model's, and back
};

}  // namespace

bool canOpen(const graph::Graph& model, const graph::Node& node) {
  return node.origins.size() > 1 && std::ranges::all_of(node.origins, [&model](const graph::Origin& origin) {
           return model.find(origin.node) != nullptr;
         });
}

OpenedNodes openedNodes(const graph::GraphVersion& fused, const graph::Graph& model,
                        const std::set<std::string>& paths) {
  if (!fused || paths.empty()) return {fused, {}, {}};
  Opening opening(*fused, model, paths);
  if (!opening.any()) return {fused, {}, {}};
  return opening.made();
}

}  // namespace orrery::ui
