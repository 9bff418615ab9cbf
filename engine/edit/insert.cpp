// insert op=OP as=NAME after=V inputs={..} attributes={..}: a new node, which the readers of V read instead.
// custom op=OP as=NAME after=V content=HASH ..: the same of an op of one's own, made of that source.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/rewire.h"
#include "engine/edit/states.h"
#include "engine/edit/words.h"
#include "engine/graph/own_content.h"
#include "engine/io/json.h"

namespace orrery::edit {
namespace {

/// A JSON object of a field; nothing in it where the field was left out.
Result<Metadata> object_in(const Edit& edit, const std::string& field) {
  const std::string& text = edit.fields.at(field);
  if (text.empty()) return Metadata();
  auto object = io::flatten_json(text, field);
  if (object.ok()) return object;
  Error error = std::move(object).error();
  error.code = ErrorCode::invalid_argument;
  error.advice = "write it as {\"name\": value}";
  return error;
}

Result<graph::Attributes> attributes_in(const Edit& edit) {
  ORRERY_ASSIGN(const Metadata object, object_in(edit, "attributes"));
  graph::Attributes attributes;
  for (const auto& [name, value] : object.all()) {
    if (std::holds_alternative<std::vector<std::string>>(value))
      return Error{ErrorCode::invalid_argument, fmt::format("{} is a list of texts", name), "attributes",
                   "an attribute is true or false, a number, a text, or a list of numbers"};
    std::visit(
        [&](const auto& known) {
          if constexpr (std::is_constructible_v<graph::Attribute, decltype(known)>)
            attributes.emplace(name, known);
        },
        value);
  }
  return attributes;
}

/// The values of one input, of which only a variadic one has several.
Result<std::vector<ValueId>> values_of(const graph::Graph& graph, const Metadata::Value& names) {
  std::vector<std::string> wanted;
  if (const auto* one = std::get_if<std::string>(&names)) wanted = {*one};
  if (const auto* several = std::get_if<std::vector<std::string>>(&names)) wanted = *several;
  if (wanted.empty())
    return Error{ErrorCode::invalid_argument, "An input is not the name of a value", "inputs",
                 "write NODE:OUTPUT, for example layers.0.attention.q_proj:dst"};
  std::vector<ValueId> values;
  for (const std::string& name : wanted) {
    ORRERY_ASSIGN(const ValueId value, find_value(graph, name));
    values.push_back(value);
  }
  return values;
}

Error no_op(const graph::Graph& graph, const std::string& name) {
  std::vector<std::string> near;
  for (const graph::OpPtr& op : graph.ops().all())
    if (edit_distance(name, op->name, 2) <= 2) near.push_back(op->name);
  return {ErrorCode::not_found, "There is no such op", name.substr(0, 200),
          offer(near, "orrery-cli ops lists them")};
}

/// The inputs of a new node by the names that they are given by; `after` comes first.
Result<std::vector<ValueId>> inputs_in(const graph::Graph& graph, const Edit& edit, const graph::OpSchema& op,
                                       ValueId after) {
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), edit.fields.at("as"), std::move(advice)};
  };
  if (after.valid() && op.inputs.empty())
    return refuse(fmt::format("{} reads nothing, so it comes after nothing", op.name), "leave after out");
  ORRERY_ASSIGN(const Metadata given, object_in(edit, "inputs"));
  for (const auto& [name, value] : given.all())
    if (std::ranges::find(op.inputs, name, &graph::InputSpec::name) == op.inputs.end())
      return refuse(fmt::format("{} has no input \"{}\"", op.name, name.substr(0, 80)), "leave it out");
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const graph::InputSpec& spec = op.inputs[i];
    const Metadata::Value* names = given.find(spec.name);
    std::vector<ValueId> values;
    if (i == 0 && after.valid()) values.push_back(after);
    if (names && !values.empty() && !spec.variadic)
      return refuse(fmt::format("The input {} is given twice: by after and in inputs", spec.name),
                    "leave one of them out");
    if (names) {
      ORRERY_ASSIGN(const std::vector<ValueId> more, values_of(graph, *names));
      values.insert(values.end(), more.begin(), more.end());
    }
    if (values.size() > 1 && !spec.variadic)
      return refuse(fmt::format("The input {} takes one value, not {}", spec.name, values.size()),
                    "name one");
    if (values.empty() && !spec.optional && !spec.variadic)
      return refuse(fmt::format("{} needs its input {}", op.name, spec.name),
                    fmt::format("give it: inputs={{\"{}\": \"NODE:OUTPUT\"}}", spec.name));
    if (values.empty() && !spec.variadic) values.emplace_back();
    inputs.insert(inputs.end(), values.begin(), values.end());
  }
  return inputs;
}

/// Right after the last of what it reads; at the end where it reads nothing.
NodeId place_after(const graph::Graph& graph, const std::vector<ValueId>& inputs) {
  for (size_t i = graph.order().size(); i-- > 0;)
    for (const ValueId output : graph.node(graph.order()[i]).outputs)
      if (std::ranges::find(inputs, output) != inputs.end()) return next_in_order(graph, graph.order()[i]);
  return {};
}

Result<graph::Journal> insert(graph::Graph& graph, const Edit& edit) {
  const std::string &name = edit.fields.at("op"), &path = edit.fields.at("as"),
                    &after = edit.fields.at("after");
  const graph::OpPtr op = graph.ops().find(name);
  if (!op) return no_op(graph, name);
  ORRERY_TRY(check_free(graph, path));
  ValueId value;
  if (!after.empty()) {
    ORRERY_ASSIGN(value, find_value(graph, after));
  }
  ORRERY_ASSIGN(std::vector<ValueId> inputs, inputs_in(graph, edit, *op, value));
  ORRERY_ASSIGN(graph::Attributes attributes, attributes_in(edit));
  graph::Transaction transaction(graph, fmt::format("insert {} as {}", name, path));
  if (value.valid()) {
    ORRERY_TRY(insert_after(
        graph, transaction,
        {name, path, std::move(attributes), std::move(inputs), edit.fields.at("rewire") == "true"}));
  } else {
    const Path split = split_path(path);
    const NodeId before = place_after(graph, inputs);
    ORRERY_TRY(transaction.add_node(
        {name, split.scope, split.name, std::move(attributes), std::move(inputs), {}, before}));
  }
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

Result<graph::Journal> custom(graph::Graph& graph, const Edit& edit) {
  const std::string &name = edit.fields.at("op"), &wanted = edit.fields.at("content");
  const std::string made_of = wanted.empty() ? "" : " of content " + wanted.substr(0, 64);
  const graph::OpPtr op = graph.ops().find(name);
  if (!op)
    return Error{ErrorCode::not_found, fmt::format("There is no op {}{} here", name.substr(0, 80), made_of),
                 name, "add it first: orrery-cli custom add FILE"};
  const std::string* content = graph::content_of(*op);
  if (!content)
    return Error{ErrorCode::invalid_argument, fmt::format("{} is an op of the engine's", name), name,
                 "use insert"};
  if (!wanted.empty() && wanted != *content)
    return Error{ErrorCode::not_found,
                 fmt::format("The op {} here has the content {}, and this was made with one{}", name,
                             *content, made_of),
                 name, "add that one, or leave content out to take this one"};
  Edit plain = edit;
  plain.fields.erase("content");
  return insert(graph, plain);
}

constexpr Field kNewOp{"op", FieldKind::op, "what it computes"},
    kNewAs{"as", FieldKind::name, "its scope and name: layers.3.mlp.extra"},
    kNewAfter{"after", FieldKind::value, "what its first input reads", false},
    kNewInputs{"inputs", FieldKind::inputs, "what its other inputs read", false},
    kNewAttributes{"attributes", FieldKind::attributes,
                   "its attributes, as far as they differ from what the op says", false},
    kNewRewire{"rewire", FieldKind::flag, "all who read that value read the new node instead", false, "true"};

}  // namespace

Verb insert_verb() {
  static constexpr Field kFields[] = {kNewOp, kNewAs, kNewAfter, kNewInputs, kNewAttributes, kNewRewire};
  return {"insert", "a new node, in the way of a value or beside it", kFields, insert};
}

Verb custom_verb() {
  static constexpr Field kFields[] = {
      kNewOp,
      kNewAs,
      kNewAfter,
      kNewInputs,
      kNewAttributes,
      kNewRewire,
      {"content", FieldKind::text, "the hash of the source that the op must be made of; none: any", false}};
  return {"custom", "a new node of an op of one's own", kFields, custom};
}

void name_contents(const graph::OpRegistry& ops, std::vector<Edit>& edits) {
  for (Edit& edit : edits) {
    if (edit.op != "custom" || !edit.fields.contains("op") || !edit.fields["content"].empty()) continue;
    const graph::OpPtr op = ops.find(edit.fields["op"]);
    if (const std::string* content = op ? graph::content_of(*op) : nullptr) edit.fields["content"] = *content;
    if (edit.fields["content"].empty()) edit.fields.erase("content");
  }
}

}  // namespace orrery::edit
