// Tokenizers of folders without tokenizer.json. vocab.txt, and vocab.json with merges.txt, are put together
// as the tokenizer.json that transformers would write of them; tokenizer.model is read as sentencepiece does.
#include <fmt/format.h>

#include "engine/text/sentencepiece_pipeline.h"
#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/tokenizer_settings.h"

namespace orrery::text {
namespace {

using nlohmann::json;
using Kind = TokenizerClass::Kind;
using Frame = TokenizerClass::Frame;

constexpr size_t kFarthestId = 65536;  // past the vocabulary

Error damaged_file(std::string what, std::string_view name) {
  return {ErrorCode::corrupt_file, std::move(what), std::string(name),
          fmt::format("Get the model's {} again", name)};
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// A token a line, its number the id.
std::vector<std::pair<std::string, int64_t>> read_lines(std::string_view text) {
  std::vector<std::pair<std::string, int64_t>> vocabulary;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    vocabulary.emplace_back(line, vocabulary.size());
  }
  return vocabulary;
}

/// "left right" on each line, after a line with the version.
Result<std::vector<std::pair<std::string, std::string>>> read_merges(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (bool first = true; !text.empty(); first = false) {
    std::string_view line = take_line(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (first && line.starts_with("#version"))) continue;
    const size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size())
      return damaged_file(fmt::format("Merge {} is not two parts with a space between", merges.size()),
                          "merges.txt");
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

/// Puts the description of a tokenizer together.
class Description {
 public:
  Description(const TokenizerSettings& settings, const TokenizerClass& kind, TokenizerJson& file)
      : settings_(settings), kind_(kind), file_(file) {}

  Result<void> write() {
    for (const auto& [token, id] : file_.vocabulary) ids_[token] = id;
    ORRERY_TRY(write_added());
    file_.bos = settings_.special("bos_token", kind_.bos);
    file_.eos = settings_.special("eos_token", kind_.eos);
    if (kind_.kind == Kind::wordpiece)
      write_wordpiece();
    else
      write_byte_level();
    return write_frame();
  }

 private:
  bool flag(const char* name, bool usual) const { return flag_of(settings_.config(), name, usual); }

  Result<void> write_added() {
    const auto find = [this](std::string_view token) {
      const auto found = ids_.find(token);
      return found == ids_.end() ? TokenId{-1} : static_cast<TokenId>(found->second);
    };
    ORRERY_ASSIGN(const std::vector<AddedToken> added, settings_.added(kind_, file_.vocabulary.size(), find));
    json list = json::array();
    for (const AddedToken& token : added) {
      ids_.try_emplace(token.content, token.id);
      list.push_back({{"id", token.id},
                      {"content", token.content},
                      {"special", token.special},
                      {"normalized", token.normalized},
                      {"single_word", token.single_word},
                      {"lstrip", token.strip_left},
                      {"rstrip", token.strip_right}});
    }
    file_.rest["added_tokens"] = std::move(list);
    return {};
  }

  void write_wordpiece() {
    json normalizer = {{"type", "BertNormalizer"},
                       {"handle_chinese_chars", flag("tokenize_chinese_chars", true)},
                       {"lowercase", flag("do_lower_case", true)}};
    if (const json& strip = member(settings_.config(), "strip_accents"); strip.is_boolean())
      normalizer["strip_accents"] = strip;
    file_.rest["normalizer"] = std::move(normalizer);
    file_.rest["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
    file_.rest["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}};
    file_.rest["model"] = {{"type", "WordPiece"},
                           {"unk_token", settings_.special("unk_token", kind_.unknown)}};
  }

  void write_byte_level() {
    json bytes = {{"type", "ByteLevel"},
                  {"add_prefix_space", flag("add_prefix_space", false)},
                  {"use_regex", kind_.pattern.empty()}};
    if (kind_.pattern.empty()) {
      file_.rest["pre_tokenizer"] = std::move(bytes);
    } else {
      const json split = {{"type", "Split"},
                          {"pattern", {{"Regex", kind_.pattern}}},
                          {"behavior", "Isolated"},
                          {"invert", false}};
      file_.rest["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, std::move(bytes)}}};
    }
    if (kind_.composes) file_.rest["normalizer"] = {{"type", "NFC"}};
    file_.rest["decoder"] = {{"type", "ByteLevel"}};
    file_.rest["model"] = {{"type", "BPE"}};
  }

  /// [token, id]
  Result<json> placed(const char* name, std::string_view usual) const {
    const std::string token = settings_.special(name, usual);
    const auto found = ids_.find(token);
    if (found == ids_.end())
      return damaged_file(fmt::format("The {} is not in the vocabulary", name), "tokenizer_config.json");
    return json::array({token, found->second});
  }

  Result<void> write_frame() {
    if (kind_.frame == Frame::ends) return write_ends();
    ORRERY_ASSIGN(json classifier, placed("cls_token", kind_.classifier));
    ORRERY_ASSIGN(json separator, placed("sep_token", kind_.separator));
    file_.rest["post_processor"] = {
        {"type", kind_.frame == Frame::bert ? "BertProcessing" : "RobertaProcessing"},
        {"cls", std::move(classifier)},
        {"sep", std::move(separator)}};
    return {};
  }

  /// Each text by itself between BOS and EOS, where the folder asks for them.
  Result<void> write_ends() {
    json table = json::object(), single = json::array(), pair = json::array();
    for (const bool second : {false, true}) {
      const auto add = [&](const char* wanted, const char* name, std::string_view usual) -> Result<void> {
        if (!flag(wanted, false)) return {};
        ORRERY_ASSIGN(const json token, placed(name, usual));
        table[token[0].get<std::string>()] = {{"ids", {token[1]}}};
        const json item = {{"SpecialToken", {{"id", token[0]}, {"type_id", second ? 1 : 0}}}};
        if (!second) single.push_back(item);
        pair.push_back(item);
        return {};
      };
      ORRERY_TRY(add("add_bos_token", "bos_token", kind_.bos));
      const json text = {{"Sequence", {{"id", second ? "B" : "A"}, {"type_id", second ? 1 : 0}}}};
      if (!second) single.push_back(text);
      pair.push_back(text);
      ORRERY_TRY(add("add_eos_token", "eos_token", kind_.eos));
    }
    file_.rest["post_processor"] = {{"type", "TemplateProcessing"},
                                    {"single", std::move(single)},
                                    {"pair", std::move(pair)},
                                    {"special_tokens", std::move(table)}};
    return {};
  }

  const TokenizerSettings& settings_;
  const TokenizerClass& kind_;
  TokenizerJson& file_;
  std::map<std::string, int64_t, std::less<>> ids_;
};

Result<std::shared_ptr<const Tokenizer>> read_described(const TokenizerFiles& files,
                                                        const TokenizerSettings& settings, Kind kind) {
  ORRERY_ASSIGN(const TokenizerClass* known, class_of(settings.config(), files.model_type, kind));
  TokenizerJson file;
  if (kind == Kind::wordpiece) {
    file.vocabulary = read_lines(files.vocabulary_text);
  } else {
    ORRERY_ASSIGN(file,
                  read_tokenizer_json(fmt::format("{{\"model\":{{\"vocab\":{}}}}}", files.vocabulary_json),
                                      "vocab.json"));
    ORRERY_ASSIGN(file.merges, read_merges(files.merges));
  }
  file.rest = json::object();
  ORRERY_TRY(Description(settings, *known, file).write());
  return assemble(std::move(file));
}

Result<std::shared_ptr<const Tokenizer>> read_model_file(const TokenizerFiles& files,
                                                         const TokenizerSettings& settings) {
  ORRERY_ASSIGN(const TokenizerClass* known,
                class_of(settings.config(), files.model_type, Kind::sentencepiece));
  const json& config = settings.config();
  ORRERY_ASSIGN(SentencePieceFile file, read_sentencepiece_file(files.sentencepiece));
  SentencePieceParts& parts = file.parts;
  std::map<std::string_view, TokenId> ids;
  for (size_t i = 0; i < parts.tokens.size(); ++i) ids.emplace(parts.tokens[i], static_cast<TokenId>(i));
  const auto find = [&](std::string_view token) {
    const auto found = ids.find(token);
    return found == ids.end() ? TokenId{-1} : found->second;
  };
  ORRERY_ASSIGN(parts.added, settings.added(*known, parts.tokens.size(), find));
  if (const TokenId bos = find(settings.special("bos_token", known->bos)); bos >= 0) parts.bos = bos;
  if (const TokenId eos = find(settings.special("eos_token", known->eos)); eos >= 0) parts.eos = eos;
  for (const AddedToken& token : parts.added)
    if (static_cast<size_t>(token.id) >= parts.tokens.size() + kFarthestId)
      return damaged_file(fmt::format("An added token has the id {}, far past the vocabulary", token.id),
                          "tokenizer_config.json");
  if (known->name == "Llama") {
    // The class looks at each text itself, and adds no space before one that it finds.
    parts.normalization.add_prefix = false;
    if (flag_of(config, "add_prefix_space", true))
      parts.prefix = flag_of(config, "legacy", false) ? PrependScheme::always : PrependScheme::first;
  }
  set_ends(parts, flag_of(config, "add_bos_token", false), flag_of(config, "add_eos_token", false));
  return make_sentencepiece(file.kind, std::move(parts));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizer_from_files(const TokenizerFiles& files) {
  ORRERY_ASSIGN(const TokenizerSettings settings, TokenizerSettings::read(files));
  if (!files.sentencepiece.empty()) return read_model_file(files, settings);
  if (!files.vocabulary_json.empty() && !files.merges.empty())
    return read_described(files, settings, Kind::byte_level);
  if (!files.vocabulary_text.empty()) return read_described(files, settings, Kind::wordpiece);
  return Error{ErrorCode::not_found, "The model has no tokenizer", "", "Put its tokenizer.json beside it"};
}

}  // namespace orrery::text
