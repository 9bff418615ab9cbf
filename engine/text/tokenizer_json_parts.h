// The parts of a tokenizer as tokenizer.json describes them, each by its "type". What would change ids and is
// not supported is refused by name, never passed over.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/text/pipeline.h"
#include "engine/text/tokenizer_json_reader.h"

namespace orrery::text {

/// What reads each type of a part, in the order of the documentation.
template <class Part>
struct JsonType {
  std::string_view name;
  Result<Part> (*read)(const nlohmann::json&);
};
template <class Part, size_t count>
const JsonType<Part>* find_type(const JsonType<Part> (&types)[count], std::string_view name) {
  for (const JsonType<Part>& type : types)
    if (type.name == name) return &type;
  return nullptr;
}
template <class Part, size_t count>
std::vector<std::string_view> names_of(const JsonType<Part> (&types)[count]) {
  std::vector<std::string_view> names;
  for (const JsonType<Part>& type : types) names.push_back(type.name);
  return names;
}

Error json_unsupported(std::string_view part, std::string_view type);
Error json_damaged(std::string what);

// Members that are absent or of another type read as the fallback, or as null.
std::string text_of(const nlohmann::json& object, const char* key, std::string fallback = {});
bool flag_of(const nlohmann::json& object, const char* key, bool fallback);
int64_t integer_of(const nlohmann::json& object, const char* key, int64_t fallback);
const nlohmann::json& member(const nlohmann::json& object, const char* key);
Result<TokenId> id_of(const nlohmann::json& value);
/// {"String": ...} or {"Regex": ...}
Result<Regex> pattern_of(const nlohmann::json& pattern);

/// null: the text as it is. `normalizer` may be null.
Result<NormalizerPtr> read_normalizer(const nlohmann::json& normalizer);

// The types that each of these reads.
std::vector<std::string_view> normalizer_types();
std::vector<std::string_view> pre_tokenizer_types();
std::vector<std::string_view> post_processor_types();
std::vector<std::string_view> decoder_types();
std::vector<std::string_view> model_types();

struct JsonPreTokenizer {
  PreTokenizer steps;
  bool ends_in_bytes = false;  // the last step maps bytes to characters; it is left out of `steps`
};
Result<JsonPreTokenizer> read_pre_tokenizer(const nlohmann::json& pre_tokenizer);
Result<PostProcessor> read_post_processor(const nlohmann::json& processor);
Result<Decoder> read_decoder(const nlohmann::json& decoder);

/// Fills vocabulary and model; `byte_level`: words come as bytes where the model takes them so, which the
/// result tells.
Result<bool> read_model(TokenizerJson& file, const std::vector<AddedToken>& added, bool byte_level,
                        PipelineParts& parts);

/// Puts the tokenizer together.
Result<std::shared_ptr<const Tokenizer>> assemble(TokenizerJson file);

}  // namespace orrery::text
