#include "engine/edit/edit.h"

#include <fmt/format.h>

#include "engine/edit/check.h"

namespace orrery::edit {
namespace {

constexpr size_t kLongestWords = 65536;

std::string quoted_when_needed(const std::string& text) {
  if (!text.empty() && text.front() != '{' && text.find_first_of(" \t\n\r\"\\") == std::string::npos)
    return text;
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

/// The length of a JSON object at the start of a text; nothing where it is not closed.
std::optional<size_t> object_length(std::string_view text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == '{')
      ++depth;
    else if (!quoted && text[i] == '}' && --depth == 0)
      return i + 1;
  }
  return std::nullopt;
}

/// Words between spaces; double quotes keep spaces together, and a backslash inside them takes the next
/// character as it is. A field that begins with a brace is a JSON object, as it is up to its end.
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
    if (!quoted && c == '{' && parts.back().find('=') == parts.back().size() - 1) {
      const auto length = object_length(words.substr(i));
      if (!length) return bad_words("A brace is not closed", words);
      parts.back() += words.substr(i, *length);
      i += *length - 1;
    } else if (c == '"')
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

std::string Edit::to_string() const {
  std::string text = op;
  for (const auto& [name, value] : fields) text += " " + name + "=" + quoted_when_needed(value);
  return text;
}

Result<graph::Journal> apply(graph::Graph& graph, const Edit& edit) {
  ORRERY_TRY(check(edit));
  const Verb& verb = *find_verb(edit.op);
  Edit complete = edit;
  for (const Field& field : verb.fields)
    if (!field.required) complete.fields.try_emplace(std::string(field.name), field.fallback);
  return verb.apply(graph, complete);
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

std::optional<Error> refusal(const graph::Graph& graph, const Edit& edit) {
  graph::Graph copy = graph;
  const Result<graph::Journal> applied = apply(copy, edit);
  return applied.ok() ? std::nullopt : std::optional(applied.error());
}

}  // namespace orrery::edit
