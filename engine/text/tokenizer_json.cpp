// Reads the parts of tokenizer.json that matter and hands them to the tokenizer they describe. What would
// change ids and is not supported is refused by name, never passed over.
#include <fmt/format.h>

#include <algorithm>

#include "engine/text/byte_level_bpe.h"
#include "engine/text/pipeline.h"
#include "engine/text/tokenizer_json_reader.h"
#include "engine/text/wordpiece.h"

namespace orrery::text {
namespace {

using nlohmann::json;

Error unsupported(std::string_view part, std::string_view type) {
  return {ErrorCode::unsupported, fmt::format("The {} \"{}\" is not supported", part, type.substr(0, 60)),
          "tokenizer.json", "Byte-level BPE and BERT's WordPiece are"};
}
Error damaged(std::string what) {
  return {ErrorCode::corrupt_file, std::move(what), "tokenizer.json", "Get the model's tokenizer.json again"};
}

// Members that are absent or of another type read as the fallback.
std::string text_of(const json& object, const char* key, std::string fallback = {}) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : fallback;
}
bool flag_of(const json& object, const char* key, bool fallback) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_boolean() ? found->get<bool>() : fallback;
}
int64_t integer_of(const json& object, const char* key, int64_t fallback) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : fallback;
}
const json& member(const json& object, const char* key) {
  static const json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() ? *found : kNull;
}

Result<TokenId> id_of(const json& value) {
  if (!value.is_number_integer() || value < 0 || value > INT32_MAX)
    return damaged("A token id is not a small number");
  return value.get<TokenId>();
}

Result<std::vector<AddedToken>> read_added(const json& list) {
  std::vector<AddedToken> added;
  if (list.is_null()) return added;
  if (!list.is_array()) return damaged("added_tokens is not a list");
  for (const json& entry : list) {
    AddedToken token;
    ORRERY_ASSIGN(token.id, id_of(member(entry, "id")));
    token.content = text_of(entry, "content");
    token.special = flag_of(entry, "special", false);
    token.normalized = flag_of(entry, "normalized", !token.special);
    token.single_word = flag_of(entry, "single_word", false);
    token.strip_left = flag_of(entry, "lstrip", false);
    token.strip_right = flag_of(entry, "rstrip", false);
    added.push_back(std::move(token));
  }
  return added;
}

/// Tokens by id. Ids may have holes, but not so many that a small file asks for a large table.
Result<std::vector<std::string>> place_tokens(TokenizerJson& file, const std::vector<AddedToken>& added) {
  const int64_t limit = 2 * static_cast<int64_t>(file.vocabulary.size() + added.size()) + 65536;
  int64_t highest = -1;
  const auto check = [&](int64_t id, const std::string& token) -> Result<void> {
    if (id < 0 || id >= limit)
      return damaged(fmt::format("The id {} of \"{}\" is out of range", id, token.substr(0, 60)));
    highest = std::max(highest, id);
    return {};
  };
  for (const auto& [token, id] : file.vocabulary) ORRERY_TRY(check(id, token));
  for (const AddedToken& token : added) ORRERY_TRY(check(token.id, token.content));
  std::vector<std::string> tokens(static_cast<size_t>(highest + 1));
  for (auto& [token, id] : file.vocabulary) tokens[static_cast<size_t>(id)] = std::move(token);
  for (const AddedToken& token : added) tokens[static_cast<size_t>(token.id)] = token.content;
  return tokens;
}

struct Around {
  std::vector<TokenId> before, after;
};

Result<void> read_template(const json& processor, Around& around) {
  const json& table = member(processor, "special_tokens");
  std::vector<TokenId>* side = &around.before;
  for (const json& item : member(processor, "single")) {
    if (item.contains("Sequence")) {
      side = &around.after;
      continue;
    }
    const std::string name = text_of(member(item, "SpecialToken"), "id");
    const json& ids = member(member(table, name.c_str()), "ids");
    if (!ids.is_array())
      return damaged("The template names the unknown token \"" + name.substr(0, 60) + "\"");
    for (const json& id : ids) {
      ORRERY_ASSIGN(const TokenId value, id_of(id));
      side->push_back(value);
    }
  }
  return {};
}

/// ["[CLS]", 101]
Result<TokenId> pair_id(const json& pair) {
  if (!pair.is_array() || pair.size() != 2)
    return damaged("The post-processor's token is not a pair of text and id");
  return id_of(pair[1]);
}

Result<void> read_post_processor(const json& processor, Around& around) {
  const std::string type = text_of(processor, "type");
  if (processor.is_null() || type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return read_template(processor, around);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    ORRERY_ASSIGN(const TokenId cls, pair_id(member(processor, "cls")));
    ORRERY_ASSIGN(const TokenId sep, pair_id(member(processor, "sep")));
    around.before.push_back(cls);
    around.after.push_back(sep);
    return {};
  }
  if (type == "Sequence") {
    for (const json& inner : member(processor, "processors")) ORRERY_TRY(read_post_processor(inner, around));
    return {};
  }
  return unsupported("post-processor", type);
}

Result<void> read_normalizer(const json& normalizer, std::vector<NormalForm>& forms) {
  const std::string type = text_of(normalizer, "type");
  if (normalizer.is_null()) return {};
  if (type == "NFC") return forms.push_back(NormalForm::nfc), Result<void>();
  if (type == "NFD") return forms.push_back(NormalForm::nfd), Result<void>();
  if (type == "NFKC") return forms.push_back(NormalForm::nfkc), Result<void>();
  if (type == "NFKD") return forms.push_back(NormalForm::nfkd), Result<void>();
  if (type == "Sequence") {
    for (const json& inner : member(normalizer, "normalizers")) ORRERY_TRY(read_normalizer(inner, forms));
    return {};
  }
  return unsupported("normalizer", type);
}

Result<SplitBehavior> behavior_of(const std::string& name) {
  static const std::pair<std::string_view, SplitBehavior> kNames[] = {
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  for (const auto& [known, behavior] : kNames)
    if (name == known) return behavior;
  return unsupported("split behavior", name);
}

Result<RegexSplitter> read_split(const json& stage) {
  ORRERY_ASSIGN(const SplitBehavior behavior, behavior_of(text_of(stage, "behavior")));
  const bool invert = flag_of(stage, "invert", false);
  const json& pattern = member(stage, "pattern");
  if (pattern.contains("Regex")) return RegexSplitter::compile(text_of(pattern, "Regex"), behavior, invert);
  if (pattern.contains("String")) return RegexSplitter::literal(text_of(pattern, "String"), behavior, invert);
  return damaged("A split has no pattern");
}

struct PreTokenizerReader {
  PreTokenizer& target;
  bool& prefix_space;
  int stages = 0;
  bool byte_level = false;

  Result<void> add(Result<RegexSplitter> splitter) {
    if (!splitter) return std::move(splitter).error();
    target.add(std::move(splitter).value());
    ++stages;
    return {};
  }
  Result<void> read(const json& stage) {
    const std::string type = text_of(stage, "type");
    if (type == "Sequence") {
      for (const json& inner : member(stage, "pretokenizers")) ORRERY_TRY(read(inner));
      return {};
    }
    if (type == "Split") return add(read_split(stage));
    if (type == "Digits")
      return add(RegexSplitter::compile(single_digits_pattern(), flag_of(stage, "individual_digits", false)
                                                                     ? SplitBehavior::isolated
                                                                     : SplitBehavior::contiguous));
    if (type != "ByteLevel") return unsupported("pre-tokenizer", type);
    byte_level = true;
    if (flag_of(stage, "add_prefix_space", true)) {
      // Behind another stage the space would go before each of its segments.
      if (stages > 0) return unsupported("pre-tokenizer", "ByteLevel with add_prefix_space behind another");
      prefix_space = true;
    }
    if (!flag_of(stage, "use_regex", true)) return {};
    return add(RegexSplitter::compile(gpt2_pattern(), SplitBehavior::isolated));
  }
};

int64_t truncation_of(const json& root) {
  return std::max<int64_t>(0, integer_of(member(root, "truncation"), "max_length", 0));
}

Result<std::shared_ptr<const Tokenizer>> read_bpe(TokenizerJson file) {
  const json& model = file.rest["model"];
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!text_of(model, affix).empty()) return unsupported("BPE option", affix);
  if (flag_of(model, "byte_fallback", false)) return unsupported("BPE option", "byte_fallback");
  BpeParts parts;
  ORRERY_ASSIGN(parts.added, read_added(member(file.rest, "added_tokens")));
  ORRERY_ASSIGN(parts.tokens, place_tokens(file, parts.added));
  ORRERY_TRY(read_normalizer(member(file.rest, "normalizer"), parts.normal_forms));
  PreTokenizerReader reader{parts.pre_tokenizer, parts.prefix_space};
  ORRERY_TRY(reader.read(member(file.rest, "pre_tokenizer")));
  if (!reader.byte_level) return unsupported("pre-tokenizer", "without ByteLevel");
  Around around;
  ORRERY_TRY(read_post_processor(member(file.rest, "post_processor"), around));
  parts.ignore_merges = flag_of(model, "ignore_merges", false);
  if (const std::string unknown = text_of(model, "unk_token"); !unknown.empty()) {
    const auto found = std::find(parts.tokens.begin(), parts.tokens.end(), unknown);
    if (found != parts.tokens.end()) parts.unknown = static_cast<TokenId>(found - parts.tokens.begin());
  }
  parts.before = around.before;
  parts.after = around.after;
  parts.ends = well_known_ends(parts.added);
  if (!parts.before.empty()) parts.bos = parts.before.front();
  if (!parts.ends.empty()) parts.eos = parts.ends.front();
  parts.merges = std::move(file.merges);
  parts.truncate_to = truncation_of(file.rest);
  return make_byte_level_bpe(std::move(parts));
}

Result<void> read_bert_normalizer(const json& normalizer, WordPieceParts& parts) {
  const std::string type = text_of(normalizer, "type");
  if (type != "BertNormalizer") return unsupported("normalizer", normalizer.is_null() ? "none" : type);
  parts.clean_text = flag_of(normalizer, "clean_text", true);
  parts.space_cjk = flag_of(normalizer, "handle_chinese_chars", true);
  parts.lowercase = flag_of(normalizer, "lowercase", true);
  parts.strip_accents = flag_of(normalizer, "strip_accents", parts.lowercase);  // null follows lowercase
  return {};
}

Result<std::shared_ptr<const Tokenizer>> read_wordpiece(TokenizerJson file) {
  const json& model = file.rest["model"];
  WordPieceParts parts;
  ORRERY_ASSIGN(parts.added, read_added(member(file.rest, "added_tokens")));
  ORRERY_ASSIGN(parts.tokens, place_tokens(file, parts.added));
  ORRERY_TRY(read_bert_normalizer(member(file.rest, "normalizer"), parts));
  const std::string splitter = text_of(member(file.rest, "pre_tokenizer"), "type");
  if (splitter != "BertPreTokenizer") return unsupported("pre-tokenizer", splitter);
  Around around;
  ORRERY_TRY(read_post_processor(member(file.rest, "post_processor"), around));
  const std::string unknown = text_of(model, "unk_token", "[UNK]");
  const auto found = std::find(parts.tokens.begin(), parts.tokens.end(), unknown);
  if (found == parts.tokens.end())
    return damaged("The unknown token \"" + unknown.substr(0, 60) + "\" is not in the vocabulary");
  parts.unknown = static_cast<TokenId>(found - parts.tokens.begin());
  parts.continuing_prefix = text_of(model, "continuing_subword_prefix", "##");
  parts.max_word_characters = integer_of(model, "max_input_chars_per_word", 100);
  parts.clean_up = flag_of(member(file.rest, "decoder"), "cleanup", true);
  parts.before = around.before;
  parts.after = around.after;
  if (!parts.before.empty()) parts.bos = parts.before.front();
  if (!parts.after.empty()) parts.eos = parts.after.back();
  parts.truncate_to = truncation_of(file.rest);
  return make_wordpiece(std::move(parts));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizer_from_json(std::string_view text) {
  ORRERY_ASSIGN(TokenizerJson file, read_tokenizer_json(text));
  const json& model = member(file.rest, "model");
  std::string type = text_of(model, "type");
  if (type.empty() && !file.merges.empty()) type = "BPE";  // old files leave it out
  if (type == "BPE") return read_bpe(std::move(file));
  if (type == "WordPiece") return read_wordpiece(std::move(file));
  return unsupported("tokenizer model", type);
}

}  // namespace orrery::text
