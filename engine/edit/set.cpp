// set node=N attribute=A value=V: another value for an attribute of one node.
#include <fmt/format.h>

#include <cmath>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/number_in.h"

namespace orrery::edit {
namespace {

std::optional<std::vector<int64_t>> list_in(std::string_view text) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  std::vector<int64_t> numbers;
  for (size_t begin = 0; begin < text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    begin = std::min(text.find_first_not_of(' ', begin), comma);
    const auto number = number_in<int64_t>(text.substr(begin, comma - begin));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    begin = comma + 1;
  }
  return numbers;
}

/// The text as a value of the type that the attribute has now; nothing when it is none.
std::optional<graph::Attribute> read_as(const graph::Attribute& now, const std::string& text) {
  if (std::holds_alternative<std::string>(now)) return text;
  if (std::holds_alternative<bool>(now))
    return text == "true" || text == "false" ? std::optional<graph::Attribute>(text == "true") : std::nullopt;
  if (std::holds_alternative<int64_t>(now)) return number_in<int64_t>(text);
  if (std::holds_alternative<std::vector<int64_t>>(now)) return list_in(text);
  const auto real = number_in<double>(text);
  return real && std::isfinite(*real) ? std::optional<graph::Attribute>(*real) : std::nullopt;
}

std::string names_of(const graph::Attributes& attributes) {
  std::string names;
  for (const auto& [name, value] : attributes) (names += names.empty() ? "" : ", ") += name;
  return names.empty() ? "it has none" : "it has " + names;
}

/// V is read as the attribute's type. Refused for sources, for a value of another type or out of its range,
/// and when it changes nothing.
Result<graph::Journal> set(graph::Graph& graph, const Edit& edit) {
  const std::string &path = edit.fields.at("node"), &name = edit.fields.at("attribute"),
                    &text = edit.fields.at("value");
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), path.substr(0, 200), std::move(advice)};
  };
  ORRERY_ASSIGN(const NodeId id, find_node(graph, path));
  const graph::Node& node = graph.node(id);
  if (node.is_source())
    return refuse(fmt::format("It is a {}, which is as the model's file has it", node.op->name),
                  "set an attribute of a node that reads it");
  const auto now = node.attributes.find(name);
  if (now == node.attributes.end())
    return refuse(fmt::format("{} has no attribute \"{}\"", node.op->name, name.substr(0, 80)),
                  names_of(node.attributes));
  const std::optional<graph::Attribute> value = read_as(now->second, text);
  if (!value)
    return refuse(fmt::format("\"{}\" cannot be the {} of {}", text.substr(0, 80), name, node.op->name),
                  fmt::format("it is {} now", graph::to_string(now->second)));
  if (*value == now->second) return refuse(fmt::format("{} is {} already", name, text.substr(0, 80)), "");
  graph::Transaction transaction(graph, fmt::format("set {} of {} to {}", name, path, text));
  ORRERY_TRY(transaction.set_attribute(id, name, value));
  return transaction.commit();
}

}  // namespace

Verb set_verb() {
  static constexpr Field kFields[] = {
      {"node", FieldKind::node, "path of the node, as the inspector shows it: sampler.sample"},
      {"attribute", FieldKind::attribute, "which of its attributes"},
      {"value", FieldKind::text, "true or false, a number, a text, or numbers with commas between"}};
  return {"set", "another value for an attribute of one node", kFields, set};
}

}  // namespace orrery::edit
