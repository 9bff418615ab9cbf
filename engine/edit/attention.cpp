// attention scope=S kind=K p=P window=W heads=H ...: another way of attending for the attention nodes of S.
// What is not said stays as it is.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/mask.h"
#include "engine/edit/number_in.h"
#include "engine/edit/scope_pattern.h"
#include "engine/ops/state_kind.h"

namespace orrery::edit {
namespace {

using graph::Attribute;

constexpr std::string_view kSoftmax = "softmax", kFastmax = "fastmax";
/// What only Fastmax has.
constexpr std::string_view kFastmaxOnly[] = {"p", "normalise", "limit"};
constexpr double kPositiveLimit = 1;  // 1 + s >= 0 for all |s| <= limit^2

Error refuse(const graph::Node& node, std::string what, std::string advice) {
  return {ErrorCode::invalid_argument, std::move(what), node.path(), std::move(advice)};
}

/// A field's text; empty: it was left out.
const std::string& text_of(const Edit& edit, std::string_view field) {
  return edit.fields.at(std::string(field));
}

template <class T>
const T& attribute_of(const graph::Node& node, std::string_view name) {
  return std::get<T>(node.attributes.find(name)->second);
}

/// The attributes that the fields ask for; no value takes one back to its fallback.
std::map<std::string, std::optional<Attribute>> asked(const Edit& edit) {
  std::map<std::string, std::optional<Attribute>> attributes;
  const auto given = [&](std::string_view field) { return !text_of(edit, field).empty(); };
  if (given("kind")) attributes["kind"] = text_of(edit, "kind");
  if (text_of(edit, "kind") == kSoftmax)
    for (const std::string_view name : kFastmaxOnly) attributes[std::string(name)] = std::nullopt;
  for (const std::string_view name : {"p", "window"})
    if (given(name)) attributes[std::string(name)] = *number_in<int64_t>(text_of(edit, name));
  if (given("normalise")) attributes["normalise"] = text_of(edit, "normalise") == "true";
  if (given("limit")) attributes["limit"] = *number_in<double>(text_of(edit, "limit"));
  return attributes;
}

Result<void> check_softmax(const graph::Node& node, const Edit& edit) {
  for (const std::string_view name : kFastmaxOnly)
    if (!text_of(edit, name).empty())
      return refuse(node, fmt::format("{} is of fastmax, and it would be a softmax", name),
                    "leave it out, or use kind=fastmax");
  return {};
}

/// Weights 1 + s of which some are negative make no mean of values any more.
Result<void> check_positive(const graph::Node& node) {
  if (attribute_of<int64_t>(node, "p") != 1) return {};
  if (!attribute_of<bool>(node, "normalise"))
    return refuse(node, "With p = 1 and scores of any size, weights 1 + s would be negative",
                  "add normalise=true, or use p=2");
  if (const double limit = attribute_of<double>(node, "limit"); limit > kPositiveLimit)
    return refuse(node, fmt::format("With p = 1 and limit {}, weights 1 + s would be negative", limit),
                  "use a limit of at most 1, or p=2");
  return {};
}

/// The state node of an attention, where its keys go to it alone and nobody else reads it; none elsewhere.
NodeId own_state(const graph::Graph& graph, const graph::Node& attention) {
  if (attention.op->name != "attention") return {};
  const graph::Node& append = graph.node(graph.value(attention.inputs[1]).producer);
  if (append.op->name != "kv_append" || graph.users(append.outputs[0]).size() != 1) return {};
  const graph::Node& state = graph.node(graph.value(append.inputs[0]).producer);
  const bool alone = state.op->name == "state" && graph.users(state.outputs[0]).size() == 1;
  return alone ? state.id : NodeId{};
}

/// Fastmax over all that was read needs no keys: its state is then a summary of fixed size.
Result<void> settle_state(const graph::Graph& graph, graph::Transaction& transaction, NodeId id) {
  const graph::Node& node = graph.node(id);
  const NodeId state = own_state(graph, node);
  if (!state.valid()) return {};
  const int64_t dim =
      graph.value(node.inputs[0]).type.shape.back().constant() / attribute_of<int64_t>(node, "heads");
  const auto summary = ops::summary_shape(node.attributes, dim);
  if (!summary && !ops::keeps_summary(graph.node(state).attributes)) return {};
  // A summary has a shape before it is one, and as long as it is.
  if (summary) {
    ORRERY_TRY(transaction.set_attribute(state, "shape", *summary));
    return transaction.set_attribute(state, "kind", std::string(ops::kSummary));
  }
  ORRERY_TRY(transaction.set_attribute(state, "kind", std::nullopt));
  return transaction.set_attribute(state, "shape", std::nullopt);
}

/// True where anything changed.
Result<bool> change(const graph::Graph& graph, graph::Transaction& transaction, NodeId id, const Edit& edit) {
  bool changed = false;
  for (const auto& [name, value] : asked(edit)) {
    const Attribute before = graph.node(id).attributes.at(name);
    ORRERY_TRY(transaction.set_attribute(id, name, value));
    changed |= graph.node(id).attributes.at(name) != before;
  }
  const graph::Node& node = graph.node(id);
  ORRERY_TRY(attribute_of<std::string>(node, "kind") == kFastmax ? check_positive(node)
                                                                 : check_softmax(node, edit));
  ORRERY_TRY(settle_state(graph, transaction, id));
  const std::string& heads = text_of(edit, "heads");
  if (heads.empty()) return changed;
  ORRERY_ASSIGN(const Kept kept, columns_of(graph, id, heads, *heads_of(node), "head"));
  ORRERY_ASSIGN(const bool masked, keep_columns(graph, transaction, id, kept));
  return changed || masked;
}

/// "attention of layers.*: kind=fastmax p=2"
std::string name_of(const Edit& edit) {
  std::string name = fmt::format("attention of {}:", text_of(edit, "scope"));
  for (const Field& field : find_verb(edit.op)->fields)
    if (const std::string& text = text_of(edit, field.name); field.name != "scope" && !text.empty())
      name += fmt::format(" {}={}", field.name, text);
  return name;
}

std::vector<NodeId> attention_in(const graph::Graph& graph, const std::vector<std::string>& scopes) {
  std::vector<NodeId> nodes;
  for (const std::string& scope : scopes)
    for (const NodeId id : graph.in_scope(scope))
      if (heads_of(graph.node(id))) nodes.push_back(id);
  return nodes;
}

/// All attention nodes of the scopes, in one journal. Refused when that changes nothing.
Result<graph::Journal> attention(graph::Graph& graph, const Edit& edit) {
  const std::string& pattern = text_of(edit, "scope");
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  const std::vector<NodeId> nodes = attention_in(graph, scopes);
  if (nodes.empty())
    return Error{ErrorCode::invalid_argument, "No attention is in it", pattern,
                 "name a layer that has one, or layers.* for all"};
  graph::Transaction transaction(graph, name_of(edit));
  bool changed = false;
  for (const NodeId id : nodes) {
    ORRERY_ASSIGN(const bool one, change(graph, transaction, id, edit));
    changed |= one;
  }
  if (!changed)
    return Error{ErrorCode::invalid_argument, "It attends so already", pattern,
                 "say what is to be different"};
  return transaction.commit();
}

}  // namespace

Verb attention_verb() {
  static constexpr std::string_view kKinds[] = {kSoftmax, kFastmax};
  static const Field kFields[] = {
      {"scope", FieldKind::scopes, "whose attention changes; layers.* is that of every layer"},
      {.name = "kind",
       .kind = FieldKind::choice,
       .doc = "how scores become weights: softmax takes everything of fastmax back",
       .required = false,
       .choices = kKinds},
      {.name = "p",
       .kind = FieldKind::integer,
       .doc = "of fastmax: 2 for weights 1 + s + s^2 / 2 of a score s, 1 for 1 + s",
       .required = false,
       .least = 1,
       .most = 2},
      {.name = "window",
       .kind = FieldKind::integer,
       .doc = "a token sees the last so many, itself included; 0: all",
       .required = false,
       .least = 0},
      {.name = "heads",
       .kind = FieldKind::ranges,
       .doc = "query heads that are kept, counted from 0; the others give zero",
       .required = false},
      {.name = "normalise",
       .kind = FieldKind::flag,
       .doc = "of fastmax: queries and keys are scaled to one length, the limit; needed for p = 1",
       .required = false},
      {.name = "limit",
       .kind = FieldKind::real,
       .doc = "of fastmax: that length, so that scores stay within its square; at most 1 for p = 1",
       .required = false,
       .least = 0,
       .most = 256}};
  return {"attention", "the attention of the scope by softmax or Fastmax, over a window, of some heads",
          kFields, attention};
}

}  // namespace orrery::edit
