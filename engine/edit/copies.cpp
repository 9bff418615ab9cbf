#include "engine/edit/copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/names.h"
#include "engine/edit/number_in.h"

namespace orrery::edit {
namespace {

/// "layers.4" of "layers.4@2".
std::string_view original_of(std::string_view scope) {
  const size_t at = scope.rfind('@');
  return at != std::string_view::npos && number_in<uint32_t>(scope.substr(at + 1)) ? scope.substr(0, at)
                                                                                   : scope;
}

/// The outermost of the scopes that the path is in; empty: none.
std::string_view scope_of(std::span<const std::string> scopes, std::string_view path) {
  std::string_view found;
  for (const std::string& scope : scopes)
    if (path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '.') &&
        (found.empty() || scope.size() < found.size()))
      found = scope;
  return found;
}

int64_t next_layer(const graph::Graph& graph) {
  int64_t next = 0;
  for (const NodeId id : graph.order())
    if (const graph::Node& node = graph.node(id); node.is_source())
      if (const auto layer = node.attributes.find("layer"); layer != node.attributes.end())
        if (const auto* number = std::get_if<int64_t>(&layer->second)) next = std::max(next, *number + 1);
  return next;
}

class Copying {
 public:
  Copying(const graph::Graph& graph, graph::Transaction& transaction, std::span<const std::string> scopes,
          std::string_view suffix, NodeId before, const CopiedValues& inputs)
      : graph_(graph),
        transaction_(transaction),
        scopes_(scopes),
        suffix_(suffix),
        before_(before),
        layer_(next_layer(graph)),
        values_(inputs) {}

  Result<void> copy(NodeId id) {
    const graph::Node& node = graph_.node(id);
    if (node.op->name == "input") return {};
    graph::Graph::NewNode made;
    Path path = path_of(node);
    made.op = node.op->name;
    made.scope = std::move(path.scope);
    made.name = std::move(path.name);
    made.attributes = node.attributes;
    std::erase_if(made.attributes,
                  [](const auto& entry) { return graph::is_drawing_attribute(entry.first); });
    if (is_state(node)) {
      made.attributes.insert_or_assign("name", made.scope + "." + made.name);
      made.attributes.insert_or_assign("layer", layer_++);
    }
    for (const ValueId input : node.inputs) made.inputs.push_back(of(input));
    made.before = before_;
    ORRERY_ASSIGN(const NodeId copy, transaction_.add_node(std::move(made)));
    for (size_t i = 0; i < node.outputs.size(); ++i) values_[node.outputs[i]] = graph_.node(copy).outputs[i];
    return {};
  }

  /// The state that a node writes is its own, wherever the original's comes from.
  Result<void> copy_state_of(NodeId id) {
    const graph::Node& node = graph_.node(id);
    if (node.is_source() || !writes_state(node)) return {};
    for (const ValueId input : node.inputs) {
      if (!input.valid() || graph_.value(input).kind != graph::ValueKind::state || values_.contains(input))
        continue;
      const NodeId source = graph::state_source(graph_, input);
      if (!source.valid()) continue;
      const ValueId state = graph_.node(source).outputs.front();
      if (!values_.contains(state)) ORRERY_TRY(copy(source));
      values_[input] = values_.at(state);
    }
    return {};
  }

  CopiedValues take() { return std::move(values_); }

 private:
  bool is_state(const graph::Node& node) const {
    return node.is_source() && graph_.value(node.outputs.front()).kind == graph::ValueKind::state;
  }
  bool writes_state(const graph::Node& node) const {
    return std::ranges::any_of(
        node.outputs, [&](ValueId output) { return graph_.value(output).kind == graph::ValueKind::state; });
  }
  Path path_of(const graph::Node& node) const {
    const std::string path = node.path();
    std::string_view scope = scope_of(scopes_, path);
    if (scope.empty()) scope = path;  // a state of its own from outside the scopes
    return moved_path(node, scope, copy_path(scope, suffix_));
  }
  ValueId of(ValueId input) const {
    const auto copied = values_.find(input);
    return copied == values_.end() ? input : copied->second;
  }

  const graph::Graph& graph_;
  graph::Transaction& transaction_;
  std::span<const std::string> scopes_;
  std::string_view suffix_;
  NodeId before_;
  int64_t layer_;
  CopiedValues values_;
};

}  // namespace

std::string copy_path(std::string_view scope, std::string_view suffix) {
  return std::string(original_of(scope)) + std::string(suffix);
}

std::string suffix_of(int number) { return fmt::format("@{}", number); }

int free_number(const graph::Graph& graph, std::span<const std::string> scopes, int least) {
  const auto is_free = [&](int number) {
    return std::ranges::all_of(scopes, [&](const std::string& scope) {
      return graph.in_scope(copy_path(scope, suffix_of(number))).empty();
    });
  };
  while (!is_free(least)) ++least;
  return least;
}

Result<CopiedValues> copy_region(const graph::Graph& graph, graph::Transaction& transaction,
                                 const Region& region, std::span<const std::string> scopes,
                                 std::string_view suffix, NodeId before, const CopiedValues& inputs) {
  Copying copying(graph, transaction, scopes, suffix, before, inputs);
  for (const NodeId id : region.nodes) {
    ORRERY_TRY(copying.copy_state_of(id));
    ORRERY_TRY(copying.copy(id));
  }
  return copying.take();
}

}  // namespace orrery::edit
