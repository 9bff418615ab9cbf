#include <fmt/format.h>

#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"

namespace orrery::text {

using nlohmann::json;

Error json_unsupported(std::string_view part, std::string_view type) {
  return {ErrorCode::unsupported,
          fmt::format("The {} \"{}\" is not supported", part, replace_invalid(type.substr(0, 60))),
          "tokenizer.json", "Use a model whose tokenizer does without it"};
}
Error json_damaged(std::string what) {
  return {ErrorCode::corrupt_file, std::move(what), "tokenizer.json", "Get the model's tokenizer.json again"};
}

std::string text_of(const json& object, const char* key, std::string fallback) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : fallback;
}
bool flag_of(const json& object, const char* key, bool fallback) {
  const json& value = member(object, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}
int64_t integer_of(const json& object, const char* key, int64_t fallback) {
  const json& value = member(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : fallback;
}
const json& member(const json& object, const char* key) {
  static const json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

Result<TokenId> id_of(const json& value) {
  if (!value.is_number_integer() || value < 0 || value > INT32_MAX)
    return json_damaged("A token id is not a small number");
  return value.get<TokenId>();
}

Result<Regex> pattern_of(const json& pattern) {
  if (member(pattern, "Regex").is_string()) return Regex::compile_oniguruma(text_of(pattern, "Regex"));
  if (member(pattern, "String").is_string()) return Regex::literal(text_of(pattern, "String"));
  return json_damaged("A pattern is neither a string nor a regular expression");
}

}  // namespace orrery::text
