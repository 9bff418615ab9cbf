#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

using nlohmann::json;
using Item = PostProcessor::Item;

Result<std::vector<Item>> read_items(const json& list, const json& table) {
  std::vector<Item> items;
  for (const json& entry : list) {
    if (const json& sequence = member(entry, "Sequence"); sequence.is_object()) {
      const auto kind = text_of(sequence, "id") == "B" ? Item::Kind::second_text : Item::Kind::first_text;
      items.push_back({kind, -1, static_cast<int32_t>(integer_of(sequence, "type_id", 0))});
      continue;
    }
    const json& special = member(entry, "SpecialToken");
    const std::string name = text_of(special, "id");
    const json& ids = member(member(table, name.c_str()), "ids");
    if (!ids.is_array())
      return json_damaged("The template names the unknown token \"" + replace_invalid(name.substr(0, 60)) +
                          "\"");
    for (const json& id : ids) {
      ORRERY_ASSIGN(const TokenId value, id_of(id));
      items.push_back({Item::Kind::token, value, static_cast<int32_t>(integer_of(special, "type_id", 0))});
    }
  }
  return items;
}

Result<PostProcessor> read_template_processor(const json& processor) {
  const json& table = member(processor, "special_tokens");
  PostProcessor result;
  ORRERY_ASSIGN(result.single, read_items(member(processor, "single"), table));
  ORRERY_ASSIGN(result.pair, read_items(member(processor, "pair"), table));
  return result;
}

/// ["[CLS]", 101]
Result<TokenId> pair_id(const json& pair) {
  if (!pair.is_array() || pair.size() != 2)
    return json_damaged("The post-processor's token is not a pair of text and id");
  return id_of(pair[1]);
}

Result<PostProcessor> read_bert_processor(const json& processor, bool roberta) {
  ORRERY_ASSIGN(const TokenId cls, pair_id(member(processor, "cls")));
  ORRERY_ASSIGN(const TokenId sep, pair_id(member(processor, "sep")));
  if (!roberta) return PostProcessor::around({cls}, {sep}, {sep}, 1);
  return PostProcessor::around({cls}, {sep, sep}, {sep}, 0);
}

/// Of several steps at most one may add tokens: what a second one would do to those is not supported.
Result<PostProcessor> read_sequence_processor(const json& processor) {
  PostProcessor result;
  bool found = false;
  for (const json& inner : member(processor, "processors")) {
    if (text_of(inner, "type") == "ByteLevel") continue;
    if (found) return json_unsupported("post-processor", "Sequence of several templates");
    ORRERY_ASSIGN(result, read_post_processor(inner));
    found = true;
  }
  return result;
}

constexpr JsonType<PostProcessor> kPostProcessorTypes[] = {
    {"Sequence", read_sequence_processor},
    {"TemplateProcessing", read_template_processor},
    {"BertProcessing", [](const json& processor) { return read_bert_processor(processor, false); }},
    {"RobertaProcessing", [](const json& processor) { return read_bert_processor(processor, true); }},
    // It changes offsets only.
    {"ByteLevel", [](const json&) -> Result<PostProcessor> { return PostProcessor(); }},
};

}  // namespace

std::vector<std::string_view> post_processor_types() { return names_of(kPostProcessorTypes); }

Result<PostProcessor> read_post_processor(const json& processor) {
  if (processor.is_null()) return PostProcessor();
  const std::string type = text_of(processor, "type");
  const JsonType<PostProcessor>* found = find_type(kPostProcessorTypes, type);
  return found ? found->read(processor) : json_unsupported("post-processor", type);
}

}  // namespace orrery::text
