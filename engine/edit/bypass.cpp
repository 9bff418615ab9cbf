// bypass scope=S: what enters S also leaves it. The nodes stay in the model graph, dead; the dead-node pass
// takes them out of what runs.
#include "engine/edit/bypass.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "engine/edit/scope_pattern.h"

namespace orrery::edit {
namespace {

using NodeSet = std::unordered_set<NodeId>;

std::string described(const graph::Graph& graph, ValueId id) {
  const graph::Value& value = graph.value(id);
  return fmt::format("{} {}{}", graph.value_path(id), name_of(value.type.dtype), to_string(value.type.shape));
}

std::string described(const graph::Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (size_t i = 0; i < values.size() && i < 4; ++i)
    text += (i == 0 ? "" : ", ") + described(graph, values[i]);
  return values.size() > 4 ? text + ", ..." : text;
}

bool is_output(const graph::Graph& graph, ValueId value) {
  return std::find(graph.outputs().begin(), graph.outputs().end(), value) != graph.outputs().end();
}

void add_once(std::vector<ValueId>& values, ValueId value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// Live nodes only: what is bypassed already neither feeds nor reads.
NodeSet live_nodes(const graph::Graph& graph) {
  const std::vector<bool> live = graph.live();
  NodeSet nodes;
  for (size_t i = 0; i < live.size(); ++i)
    if (live[i]) nodes.insert(graph.order()[i]);
  return nodes;
}

struct Border {
  std::vector<ValueId> entering, leaving;
};

Border border_of(const graph::Graph& graph, const NodeSet& inside, const NodeSet& live,
                 const std::vector<NodeId>& order) {
  Border border;
  for (const NodeId id : order) {
    if (!live.contains(id)) continue;
    const graph::Node& node = graph.node(id);
    for (const ValueId input : node.inputs)
      if (input.valid() && graph.value(input).kind == graph::ValueKind::activation &&
          !inside.contains(graph.value(input).producer))
        add_once(border.entering, input);
    for (const ValueId output : node.outputs) {
      if (graph.value(output).kind != graph::ValueKind::activation) continue;
      const auto users = graph.users(output);
      if (is_output(graph, output) || std::any_of(users.begin(), users.end(), [&](const graph::Use& use) {
            return !inside.contains(use.node) && live.contains(use.node);
          }))
        add_once(border.leaving, output);
    }
  }
  return border;
}

Error refusal(std::string_view scope, std::string what, std::string advice) {
  return {ErrorCode::invalid_argument, std::move(what), std::string(scope), std::move(advice)};
}

/// States that a bypassed scope writes are no outputs any more.
std::vector<ValueId> outputs_without_states(const graph::Graph& graph, const NodeSet& inside) {
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) {
    const graph::Value& value = graph.value(output);
    if (value.kind != graph::ValueKind::state || !inside.contains(value.producer)) outputs.push_back(output);
  }
  return outputs;
}

Result<void> bypass_one(const graph::Graph& graph, graph::Transaction& transaction,
                        const std::string& scope) {
  ORRERY_ASSIGN(const Stream stream, find_stream(graph, scope));
  const std::vector<NodeId> nodes = graph.in_scope(scope);
  const NodeSet inside(nodes.begin(), nodes.end());
  for (const graph::Use& use : graph.users(stream.leaves))
    if (!inside.contains(use.node)) ORRERY_TRY(transaction.set_input(use.node, use.input, stream.enters));
  std::vector<ValueId> outputs = outputs_without_states(graph, inside);
  std::replace(outputs.begin(), outputs.end(), stream.leaves, stream.enters);
  if (outputs != graph.outputs()) transaction.set_outputs(std::move(outputs));
  return {};
}

}  // namespace

Result<Stream> find_stream(const graph::Graph& graph, std::string_view scope) {
  const std::vector<NodeId> nodes = graph.in_scope(scope);
  if (scope.empty() || nodes.empty())
    return Error{ErrorCode::not_found, "The graph has no such scope", std::string(scope),
                 "choose one of the outline"};
  const NodeSet live = live_nodes(graph);
  if (std::none_of(nodes.begin(), nodes.end(), [&](NodeId id) { return live.contains(id); }))
    return refusal(scope, "It is bypassed already: no output depends on it", "");
  const Border border = border_of(graph, NodeSet(nodes.begin(), nodes.end()), live, nodes);
  const std::string advice = "bypass takes a layer, or a part of one with its residual add";
  if (border.entering.size() != 1)
    return refusal(scope,
                   border.entering.empty()
                       ? "No activation enters it"
                       : fmt::format("{} activations enter it, not one: {}", border.entering.size(),
                                     described(graph, border.entering)),
                   advice);
  if (border.leaving.size() != 1)
    return refusal(scope,
                   border.leaving.empty()
                       ? "No activation leaves it"
                       : fmt::format("{} activations leave it, not one: {}", border.leaving.size(),
                                     described(graph, border.leaving)),
                   advice);
  const Stream stream{border.entering.front(), border.leaving.front()};
  if (graph.value(stream.enters).type != graph.value(stream.leaves).type) {
    Error error = refusal(scope,
                          fmt::format("What enters is {}, and what leaves is {}",
                                      described(graph, stream.enters), described(graph, stream.leaves)),
                          advice);
    error.code = ErrorCode::shape_mismatch;
    return error;
  }
  return stream;
}

namespace {

/// All scopes that the pattern names, in one journal; the final states of what is bypassed are outputs no
/// more.
Result<graph::Journal> bypass(graph::Graph& graph, const Edit& edit) {
  const std::string& pattern = edit.fields.at("scope");
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  graph::Transaction transaction(graph, "bypass " + pattern);
  for (const std::string& scope : scopes) ORRERY_TRY(bypass_one(graph, transaction, scope));
  return transaction.commit();
}

}  // namespace

Verb bypass_verb() {
  static constexpr Field kFields[] = {
      {"scope", FieldKind::scopes,
       "what is bypassed: one stream enters it, and one of the same type leaves it"}};
  return {"bypass", "what enters the scope also leaves it; its nodes stay, hollow", kFields, bypass};
}

}  // namespace orrery::edit
