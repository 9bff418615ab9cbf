#include "engine/text/tokenizer_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

using nlohmann::json;
using Kind = TokenizerClass::Kind;
using Frame = TokenizerClass::Frame;

constexpr std::string_view kQwen2Words =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

constexpr TokenizerClass bert_class(std::string_view name) {
  return {name, Kind::wordpiece, Frame::bert, "", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};
}
constexpr TokenizerClass roberta_class(std::string_view name) {
  return {name, Kind::byte_level, Frame::roberta, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"};
}
constexpr TokenizerClass kClasses[] = {
    bert_class("Bert"),
    bert_class("DistilBert"),
    bert_class("Electra"),
    bert_class("MobileBert"),
    {"MPNet", Kind::wordpiece, Frame::roberta, "<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"},
    {"GPT2", Kind::byte_level, Frame::ends, "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "",
     ""},
    roberta_class("Roberta"),
    roberta_class("Bart"),
    roberta_class("Longformer"),
    {"Qwen2", Kind::byte_level, Frame::ends, "", "<|endoftext|>", "<|endoftext|>", "", "<|endoftext|>", "",
     "", kQwen2Words, true},
    {"Llama", Kind::sentencepiece, Frame::ends, "<s>", "</s>", "<unk>", "", "", "", ""},
    {"Gemma", Kind::sentencepiece, Frame::ends, "<bos>", "<eos>", "<unk>", "", "<pad>", "", "<mask>"},
};

/// Types of models (config.json) whose class has another name.
constexpr std::pair<std::string_view, std::string_view> kClassOfType[] = {
    {"roberta", "Roberta"}, {"bart", "Bart"},    {"longformer", "Longformer"}, {"mpnet", "MPNet"},
    {"qwen2", "Qwen2"},     {"qwen3", "Qwen2"},  {"qwen2_moe", "Qwen2"},       {"qwen3_moe", "Qwen2"},
    {"gemma", "Gemma"},     {"gemma2", "Gemma"}, {"gemma3_text", "Gemma"},     {"gemma3", "Gemma"}};

/// The names of special tokens, in the order in which transformers adds them.
constexpr const char* kNamed[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                  "pad_token", "cls_token", "mask_token"};

std::string_view usual_of(const TokenizerClass& kind, std::string_view name) {
  if (name == "bos_token") return kind.bos;
  if (name == "eos_token") return kind.eos;
  if (name == "unk_token") return kind.unknown;
  if (name == "sep_token") return kind.separator;
  if (name == "pad_token") return kind.padding;
  return name == "cls_token" ? kind.classifier : kind.mask;
}

std::string_view without(std::string_view text, std::string_view ending) {
  if (text.ends_with(ending)) text.remove_suffix(ending.size());
  return text;
}

/// A token as these files write it: a text, or an object with its flags.
AddedToken token_of(const json& value, bool special) {
  AddedToken token;
  token.content = value.is_string() ? value.get<std::string>() : text_of(value, "content");
  token.special = flag_of(value, "special", special);
  token.normalized = flag_of(value, "normalized", !token.special);
  token.single_word = flag_of(value, "single_word", false);
  token.strip_left = flag_of(value, "lstrip", false);
  token.strip_right = flag_of(value, "rstrip", false);
  return token;
}

Result<json> read_object(const std::string& text, std::string_view name) {
  if (text.empty()) return json::object();
  ORRERY_ASSIGN(TokenizerJson file, read_tokenizer_json(text, name));
  return std::move(file.rest);
}

}  // namespace

Result<const TokenizerClass*> class_of(const json& config, std::string_view model_type, Kind kind) {
  const std::string given = text_of(config, "tokenizer_class");
  std::string_view name = without(without(given, "Fast"), "Tokenizer");
  if (name.empty())
    for (const auto& [type, known] : kClassOfType)
      if (type == model_type) name = known;
  const TokenizerClass* usual = nullptr;
  for (const TokenizerClass& known : kClasses) {
    if (known.kind != kind) continue;
    if (!usual) usual = &known;
    if (known.name == name) return &known;
  }
  // Of no class at all, or of one that reads whatever is there.
  if (name.empty() || name == "PreTrained" || name == "Tokenizers") return usual;
  return Error{ErrorCode::unsupported,
               "The tokenizer class \"" + replace_invalid(given.substr(0, 60)) + "\" is not supported",
               "tokenizer_config.json",
               "Put the model's tokenizer.json beside it: that is read for every class"};
}

std::vector<std::string> class_names() {
  std::vector<std::string> names;
  for (const TokenizerClass& known : kClasses) names.push_back(std::string(known.name) + "Tokenizer");
  return names;
}

Result<TokenizerSettings> TokenizerSettings::read(const TokenizerFiles& files) {
  TokenizerSettings settings;
  ORRERY_ASSIGN(settings.config_, read_object(files.config, "tokenizer_config.json"));
  ORRERY_ASSIGN(settings.map_, read_object(files.special_tokens_map, "special_tokens_map.json"));
  ORRERY_ASSIGN(settings.added_, read_object(files.added_tokens, "added_tokens.json"));
  return settings;
}

std::string TokenizerSettings::special(const char* name, std::string_view usual) const {
  for (const json* file : {&config_, &map_})
    if (const json& value = member(*file, name); value.is_string() || value.is_object())
      return token_of(value, true).content;
  return std::string(usual);
}

Result<std::vector<AddedToken>> TokenizerSettings::added(
    const TokenizerClass& kind, size_t vocabulary,
    const std::function<TokenId(std::string_view)>& find) const {
  std::vector<AddedToken> tokens;
  std::map<std::string, size_t, std::less<>> places;
  auto next = static_cast<TokenId>(vocabulary);
  const auto add = [&](AddedToken token) {
    if (token.content.empty() || places.contains(token.content)) return;
    if (const TokenId known = find(token.content); known >= 0) token.id = known;
    if (token.id < 0) token.id = next;
    next = std::max(next, token.id + 1);
    places.emplace(token.content, tokens.size());
    tokens.push_back(std::move(token));
  };
  std::map<int64_t, AddedToken> numbered;  // in the order of their ids
  for (const auto& [id, value] : member(config_, "added_tokens_decoder").items())
    numbered[std::strtoll(id.c_str(), nullptr, 10)] = token_of(value, false);
  for (const auto& [content, id] : added_.items()) {
    ORRERY_ASSIGN(const TokenId number, id_of(id));
    numbered.try_emplace(number, token_of(json(content), false));
  }
  for (auto& [id, token] : numbered) {
    if (id < 0 || id > INT32_MAX - 1) return json_damaged("An added token has an id that is no small number");
    token.id = static_cast<TokenId>(id);
    add(std::move(token));
  }
  for (const char* name : kNamed) {
    const json& own = member(config_, name);
    AddedToken token = token_of(own.is_object() ? own : json(special(name, usual_of(kind, name))), true);
    token.special = true;
    if (const auto place = places.find(token.content); place != places.end())
      tokens[place->second].special = true;
    add(std::move(token));
  }
  for (const char* list : {"additional_special_tokens", "extra_special_tokens"})
    for (const json* file : {&config_, &map_})
      for (const json& value : member(*file, list)) add(token_of(value, true));
  return tokens;
}

}  // namespace orrery::text
