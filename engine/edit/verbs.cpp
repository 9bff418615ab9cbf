#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/edit/check.h"
#include "engine/edit/edit.h"
#include "engine/edit/number_in.h"
#include "engine/edit/ranges.h"

namespace orrery::edit {

#define ORRERY_VERB(name) Verb name##_verb();
#include "engine/edit/verbs.inc"
#undef ORRERY_VERB

namespace {

Error unfit(const Field& field, std::string_view text, std::string advice) {
  return {ErrorCode::invalid_argument,
          fmt::format("\"{}\" is not {}", text.substr(0, 80), name_of(field.kind)), std::string(field.name),
          std::move(advice)};
}

std::string joined(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words.begin(), words.end(), ", "));
}

template <class Number>
Result<void> check_number(const Field& field, std::string_view text) {
  const auto number = number_in<Number>(text);
  if (!number ||
      !(static_cast<double>(*number) >= field.least && static_cast<double>(*number) <= field.most)) {
    const bool open = field.most == std::numeric_limits<double>::max();
    const bool bounded = field.least != std::numeric_limits<double>::lowest();
    return unfit(field, text,
                 !bounded ? "write a number"
                 : open   ? fmt::format("it is at least {}", field.least)
                          : fmt::format("it is from {} to {}", field.least, field.most));
  }
  return {};
}

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '@';
  };
  return std::all_of(text.begin(), text.end(), allowed) && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos;
}

}  // namespace

std::span<const Verb> verbs() {
#define ORRERY_VERB(name) name##_verb(),
  static const std::array kVerbs = {
#include "engine/edit/verbs.inc"
  };
#undef ORRERY_VERB
  return kVerbs;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::ranges::find(verbs(), name, &Verb::name);
  return found == verbs().end() ? nullptr : &*found;
}

const Field* Verb::field(std::string_view wanted) const {
  const auto found = std::ranges::find(fields, wanted, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

std::string_view name_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::scopes:
      return "a scope";
    case FieldKind::node:
      return "a node's path";
    case FieldKind::value:
      return "a value";
    case FieldKind::input:
      return "an input of a node";
    case FieldKind::attribute:
      return "an attribute's name";
    case FieldKind::op:
      return "an op's name";
    case FieldKind::name:
      return "a name";
    case FieldKind::text:
      return "a text";
    case FieldKind::integer:
      return "a whole number in range";
    case FieldKind::real:
      return "a number in range";
    case FieldKind::flag:
      return "true or false";
    case FieldKind::choice:
      return "one of the choices";
    case FieldKind::device:
      return "a device";
    case FieldKind::ranges:
      return "a list of numbers and ranges";
    case FieldKind::attributes:
    case FieldKind::inputs:
      return "a JSON object";
    case FieldKind::file:
      return "a file";
    case FieldKind::folder:
      return "a folder";
  }
  return "";
}

Result<void> check_field(const Field& field, std::string_view text) {
  if (text.empty() && field.kind != FieldKind::text) return unfit(field, text, "give one");
  switch (field.kind) {
    case FieldKind::integer:
      return check_number<int64_t>(field, text);
    case FieldKind::real:
      return check_number<double>(field, text);
    case FieldKind::flag:
      if (text != "true" && text != "false") return unfit(field, text, "write true or false");
      return {};
    case FieldKind::choice:
      if (std::ranges::find(field.choices, text) == field.choices.end())
        return unfit(field, text, "use one of " + joined(field.choices));
      return {};
    case FieldKind::device:
      if (text != kHome && !graph::is_device_name(text))
        return unfit(field, text, "use cpu, cuda:0 for the first CUDA device, or home for the model's own");
      return {};
    case FieldKind::ranges:
      if (!ranges_in(text)) return unfit(field, text, "write numbers and ranges between commas: 0-3,7");
      return {};
    case FieldKind::name:
      if (!is_name(text)) return unfit(field, text, "use letters, digits, _ and dots between scopes");
      return {};
    case FieldKind::value:
      if (text.find(':') == std::string_view::npos)
        return unfit(field, text, "write NODE:OUTPUT, for example layers.0.attention.q_proj:dst");
      return {};
    case FieldKind::input:
      if (text.rfind('.') == std::string_view::npos)
        return unfit(field, text, "write NODE.INPUT, for example layers.0.mlp.mul.1");
      return {};
    case FieldKind::attributes:
    case FieldKind::inputs:
      if (text.front() != '{' || text.back() != '}')
        return unfit(field, text, "write it as {\"name\": value}");
      return {};
    default:
      return {};
  }
}

Result<void> check(const Edit& edit) {
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), edit.to_string().substr(0, 200),
                 std::move(advice)};
  };
  const Verb* verb = find_verb(edit.op);
  if (!verb) {
    std::vector<std::string_view> names;
    for (const Verb& known : verbs()) names.push_back(known.name);
    return refuse(fmt::format("There is no edit \"{}\"", edit.op.substr(0, 80)),
                  "the edits are: " + joined(names));
  }
  for (const Field& field : verb->fields) {
    const auto given = edit.fields.find(std::string(field.name));
    const bool absent = given == edit.fields.end() || given->second.empty();
    if (absent && field.required)
      return refuse(fmt::format("The field {} is missing", field.name),
                    fmt::format("add {}=...", field.name));
    if (!absent) ORRERY_TRY(check_field(field, given->second));
  }
  for (const auto& [name, value] : edit.fields)
    if (!verb->field(name))
      return refuse(fmt::format("{} does not take the field \"{}\"", edit.op, name.substr(0, 80)),
                    "leave it out");
  return {};
}

}  // namespace orrery::edit
