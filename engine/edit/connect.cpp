// connect input=NODE.INPUT value=V: the node reads V there. disconnect input=NODE.INPUT: it reads nothing
// there.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/region.h"
#include "engine/edit/states.h"

namespace orrery::edit {
namespace {

ValueId read_at(const graph::Node& node, int input) {
  const auto place = static_cast<size_t>(input);
  return place < node.inputs.size() ? node.inputs[place] : ValueId{};
}

Result<graph::Journal> connect(graph::Graph& graph, const Edit& edit) {
  const std::string &input = edit.fields.at("input"), &name = edit.fields.at("value");
  ORRERY_ASSIGN(const InputPlace place, find_input(graph, input));
  ORRERY_ASSIGN(const ValueId value, find_value(graph, name));
  if (read_at(graph.node(place.node), place.input) == value)
    return Error{ErrorCode::invalid_argument, fmt::format("It reads {} already", graph.value_path(value)),
                 input.substr(0, 200), ""};
  ORRERY_TRY(can_connect(graph, place.node, place.input, value));
  graph::Transaction transaction(graph, fmt::format("connect {} to {}", name, input));
  ORRERY_TRY(transaction.set_input(place.node, place.input, value));
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

/// Of a variadic input those after it close up.
Result<void> take_away(const graph::Graph& graph, graph::Transaction& transaction, const InputPlace& place) {
  const auto last = static_cast<int>(graph.node(place.node).inputs.size()) - 1;
  if (!graph::is_variadic(*graph.node(place.node).op, static_cast<size_t>(place.input)))
    return transaction.set_input(place.node, place.input, {});
  for (int input = place.input; input < last; ++input)
    ORRERY_TRY(transaction.set_input(place.node, input, read_at(graph.node(place.node), input + 1)));
  return transaction.set_input(place.node, last, {});
}

Result<graph::Journal> disconnect(graph::Graph& graph, const Edit& edit) {
  const std::string& input = edit.fields.at("input");
  ORRERY_ASSIGN(const InputPlace place, find_input(graph, input));
  if (!read_at(graph.node(place.node), place.input).valid())
    return Error{ErrorCode::invalid_argument, "It reads nothing there", input.substr(0, 200), ""};
  graph::Transaction transaction(graph, "disconnect " + input);
  ORRERY_TRY(take_away(graph, transaction, place));
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

}  // namespace

Result<void> can_connect(const graph::Graph& graph, NodeId node, int input, ValueId value) {
  const auto types = graph.infer_with(node, input, value);
  if (!types.ok()) return types.error();
  const NodeId maker = graph.value(value).producer;
  if (!graph.depends_on(maker, node)) return {};
  return Error{ErrorCode::invalid_argument,
               maker == node ? "A node cannot read what it makes itself"
                             : fmt::format("{} depends on it, so it cannot feed it: that would be a cycle",
                                           described(graph, value)),
               graph.node(node).path(), "choose a value that is computed before it"};
}

Verb connect_verb() {
  static constexpr Field kFields[] = {
      {"input", FieldKind::input, "where it is read: layers.0.mlp.residual.1, or by the input's name"},
      {"value", FieldKind::value, "what is read there: layers.0.mlp.down_proj:dst"}};
  return {"connect", "an input of a node reads another value", kFields, connect};
}

Verb disconnect_verb() {
  static constexpr Field kFields[] = {
      {"input", FieldKind::input, "an input that may be absent: a bias, or one of several parts"}};
  return {"disconnect", "an input of a node reads nothing", kFields, disconnect};
}

}  // namespace orrery::edit
