#include "engine/edit/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/edit/bypass.h"
#include "engine/edit/check.h"
#include "engine/edit/place.h"
#include "engine/edit/precision.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/set.h"

namespace orrery::edit {
namespace {

constexpr std::array kVerbs = {
    Verb{"bypass", "scope=S: what enters the scope also leaves it. S may use * and a-b (layers.4-7).",
         bypass},
    Verb{
        "place",
        "scope=S device=D: the nodes of the scope run on D: cpu, cuda:N, or home (the model's own device). S "
        "may use * and a-b, or name one node.",
        place},
    Verb{"precision",
         "scope=S dtype=P: what the nodes of the scope may round activations to: balanced, exact (float32), "
         "bf16, "
         "int16, int8, or default (the model's own). S may use * and a-b, or name one node; * is the whole "
         "model.",
         precision},
    Verb{"set",
         "node=N attribute=A value=V: an attribute of one node, as the inspector shows it "
         "(node=sampler.sample attribute=top_k value=20).",
         set},
};

/// The fields that a verb takes; all are needed.
struct Fields {
  std::string_view verb;
  std::span<const std::string_view> names;
};
constexpr std::string_view kBypassFields[] = {"scope"}, kPlaceFields[] = {"scope", "device"},
                           kPrecisionFields[] = {"scope", "dtype"},
                           kSetFields[] = {"node", "attribute", "value"};
constexpr std::array kFields = {Fields{"bypass", kBypassFields}, Fields{"place", kPlaceFields},
                                Fields{"precision", kPrecisionFields}, Fields{"set", kSetFields}};

constexpr size_t kLongestWords = 65536;

std::string quoted_when_needed(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\n\r\"\\") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

Error bad_words(std::string what, std::string_view words) {
  return {ErrorCode::invalid_argument, std::move(what), fmt::format("edit \"{}\"", words.substr(0, 200)),
          "write it as VERB FIELD=VALUE ..., for example bypass scope=layers.3"};
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Words between spaces; double quotes keep spaces together, and a backslash inside them takes the next
/// character as it is.
Result<std::vector<std::string>> split(std::string_view words) {
  std::vector<std::string> parts;
  bool quoted = false, inside = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    if (!quoted && is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) parts.emplace_back();
    inside = true;
    if (c == '"')
      quoted = !quoted;
    else if (quoted && c == '\\' && i + 1 < words.size())
      parts.back() += words[++i];
    else
      parts.back() += c;
  }
  if (quoted) return bad_words("A quotation mark is not closed", words);
  return parts;
}

}  // namespace

Result<void> check(const Edit& edit) {
  const auto fields =
      std::find_if(kFields.begin(), kFields.end(), [&](const Fields& f) { return f.verb == edit.op; });
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), edit.to_string().substr(0, 200),
                 std::move(advice)};
  };
  if (fields == kFields.end()) {
    std::string known;
    for (const Verb& verb : kVerbs) known += (known.empty() ? "" : ", ") + std::string(verb.name);
    return refuse(fmt::format("There is no edit \"{}\"", edit.op.substr(0, 80)), "the edits are: " + known);
  }
  for (const std::string_view name : fields->names)
    if (const auto it = edit.fields.find(std::string(name)); it == edit.fields.end() || it->second.empty())
      return refuse(fmt::format("The field {} is missing", name), fmt::format("add {}=...", name));
  for (const auto& [name, value] : edit.fields)
    if (std::find(fields->names.begin(), fields->names.end(), name) == fields->names.end())
      return refuse(fmt::format("{} does not take the field \"{}\"", edit.op, name.substr(0, 80)),
                    "leave it out");
  return {};
}

std::string Edit::to_string() const {
  std::string text = op;
  for (const auto& [name, value] : fields) text += " " + name + "=" + quoted_when_needed(value);
  return text;
}

std::span<const Verb> verbs() { return kVerbs; }

Result<graph::Journal> apply(graph::Graph& graph, const Edit& edit) {
  ORRERY_TRY(check(edit));
  const auto verb =
      std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& v) { return v.name == edit.op; });
  return verb->apply(graph, edit);
}

Result<Edit> parse_edit(std::string_view words) {
  if (words.size() > kLongestWords) return bad_words("The edit is too long", words);
  ORRERY_ASSIGN(const std::vector<std::string> parts, split(words));
  if (parts.empty()) return bad_words("The edit is empty", words);
  Edit edit{parts.front(), {}};
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == 0 || equals == std::string::npos)
      return bad_words(fmt::format("\"{}\" is not FIELD=VALUE", parts[i].substr(0, 80)), words);
    if (!edit.fields.emplace(parts[i].substr(0, equals), parts[i].substr(equals + 1)).second)
      return bad_words(fmt::format("The field {} is there twice", parts[i].substr(0, equals)), words);
  }
  ORRERY_TRY(check(edit));
  return edit;
}

Result<void> can_bypass(const graph::Graph& graph, std::string_view pattern) {
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  for (const std::string& scope : scopes) ORRERY_TRY(find_stream(graph, scope));
  return {};
}

}  // namespace orrery::edit
