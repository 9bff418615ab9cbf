// GGUF keeps a tokenizer in its metadata: tokenizer.ggml.model "gpt2" (BPE), "gemma4" (BPE of characters),
// "llama" (SentencePiece BPE), "t5" (unigram), "bert" (WordPiece) or "no_vocab" (there is none), tokens,
// scores, token_type (1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte), merges, pre, and the
// special ids.
#include <fmt/format.h>

#include "engine/text/bpe.h"
#include "engine/text/gguf_pre_tokenizers.h"
#include "engine/text/no_vocabulary.h"
#include "engine/text/pipeline.h"
#include "engine/text/sentencepiece_pipeline.h"
#include "engine/text/unicode.h"
#include "engine/text/wordpiece.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

Error damaged_key(std::string what, std::string key) {
  return {ErrorCode::corrupt_file, std::move(what), "tokenizer.ggml." + key, "Get the model file again"};
}

/// Reads the keys of one file.
class GgufReader {
 public:
  explicit GgufReader(const Metadata& metadata) : metadata_(metadata) {}

  Result<std::vector<std::string>> tokens() const {
    const auto* tokens = metadata_.texts("tokenizer.ggml.tokens");
    if (!tokens || tokens->empty()) return damaged_key("The model has no list of tokens", "tokens");
    if (tokens->size() > INT32_MAX / 2) return damaged_key("The list of tokens is too long", "tokens");
    return *tokens;
  }

  Result<std::vector<PieceType>> types(size_t vocabulary) const {
    std::vector<PieceType> types(vocabulary, PieceType::normal);
    const auto* list = metadata_.integers("tokenizer.ggml.token_type");
    if (!list) return types;
    if (list->size() != vocabulary)
      return damaged_key(fmt::format("{} tokens have {} types", vocabulary, list->size()), "token_type");
    for (size_t i = 0; i < vocabulary; ++i)
      if ((*list)[i] >= 1 && (*list)[i] <= 6) types[i] = static_cast<PieceType>((*list)[i]);
    return types;
  }

  Result<std::vector<double>> scores(size_t vocabulary) const {
    const auto* list = metadata_.numbers("tokenizer.ggml.scores");
    if (!list || list->size() != vocabulary)
      return damaged_key(fmt::format("{} tokens have {} scores", vocabulary, list ? list->size() : 0),
                         "scores");
    return *list;
  }

  Result<std::vector<std::pair<std::string, std::string>>> merges() const {
    std::vector<std::pair<std::string, std::string>> merges;
    const auto* lines = metadata_.texts("tokenizer.ggml.merges");
    if (!lines) return damaged_key("The model has no merges", "merges");
    merges.reserve(lines->size());
    for (size_t i = 0; i < lines->size(); ++i) {
      const std::string& line = (*lines)[i];
      const size_t space = line.find(' ', 1);  // a part may itself be written with a leading space
      if (space == std::string::npos || space + 1 >= line.size())
        return damaged_key(fmt::format("Merge {} is not two parts with a space between", i), "merges");
      merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    }
    return merges;
  }

  /// An id that the file gives by one of these names; -1 when it gives none.
  Result<TokenId> id(std::initializer_list<std::string_view> names, size_t vocabulary) const {
    for (const std::string_view name : names) {
      const auto id = metadata_.integer(fmt::format("tokenizer.ggml.{}_token_id", name));
      if (!id || *id == UINT32_MAX || *id == -1) continue;  // how some writers say "none"
      if (*id < 0 || *id >= static_cast<int64_t>(vocabulary))
        return damaged_key(
            fmt::format("The {} id {} is outside the vocabulary of {} tokens", name, *id, vocabulary),
            std::string(name) + "_token_id");
      return static_cast<TokenId>(*id);
    }
    return TokenId{-1};
  }

  /// The ids beside EOS that end a reply.
  Result<Ids> ends(size_t vocabulary) const {
    Ids ends;
    for (const std::string_view name : {"eot", "eom"}) {
      ORRERY_ASSIGN(const TokenId end, id({name}, vocabulary));
      if (end >= 0) ends.push_back(end);
    }
    return ends;
  }

  bool flag(std::string_view key, bool fallback) const {
    return metadata_.flag(fmt::format("tokenizer.ggml.{}", key)).value_or(fallback);
  }
  /// {id} where the file, or its silence by `fallback`, says that texts get this token.
  Ids around(std::string_view name, TokenId id, bool fallback) const {
    return id >= 0 && flag(fmt::format("add_{}_token", name), fallback) ? Ids{id} : Ids{};
  }
  const std::string* text(std::string_view key) const {
    return metadata_.text(fmt::format("tokenizer.ggml.{}", key));
  }
  const std::vector<int64_t>* integers(std::string_view key) const {
    return metadata_.integers(fmt::format("tokenizer.ggml.{}", key));
  }

 private:
  const Metadata& metadata_;
};

Ids joined(Ids ids, const Ids& more) {
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

/// Two texts stand apart by EOS and SEP where there is a separator, else each has what one text has.
Result<PostProcessor> frame(const GgufReader& reader, const Ids& before, const Ids& after,
                            size_t vocabulary) {
  ORRERY_ASSIGN(const TokenId separator, reader.id({"seperator", "separator", "sep"}, vocabulary));
  if (separator >= 0) return PostProcessor::around(before, joined(after, {separator}), after, 0);
  return PostProcessor::around(before, joined(after, before), after, 1);
}

std::vector<AddedToken> added_tokens(const std::vector<std::string>& tokens,
                                     const std::vector<PieceType>& types) {
  std::vector<AddedToken> added;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (types[i] != PieceType::control && types[i] != PieceType::user_defined &&
        types[i] != PieceType::unknown)
      continue;
    AddedToken token;
    token.content = tokens[i];
    token.id = static_cast<TokenId>(i);
    token.special = types[i] != PieceType::user_defined;
    added.push_back(std::move(token));
  }
  return added;
}

/// How tokens are written: in the characters of bytes, or as they are with U+2581 for spaces.
void set_writing(bool byte_level, PipelineParts& parts) {
  if (byte_level) {
    parts.decoder = {byte_level_step()};
    return;
  }
  parts.normalizer = replace_normalizer(" ", std::string(kSpaceMark));
  parts.decoder = {replace_step(std::string(kSpaceMark), " "), byte_fallback_step(), fuse_step()};
}

Result<std::shared_ptr<const Tokenizer>> read_bpe(const GgufReader& reader, std::string_view pre) {
  ORRERY_ASSIGN(std::vector<std::string> tokens, reader.tokens());
  const size_t size = tokens.size();
  ORRERY_ASSIGN(const std::vector<PieceType> types, reader.types(size));
  ORRERY_ASSIGN(const auto merges, reader.merges());
  ORRERY_ASSIGN(GgufPreTokenizer named, gguf_pre_tokenizer(pre));
  PipelineParts parts;
  parts.added = added_tokens(tokens, types);
  parts.vocabulary = std::make_shared<const Vocabulary>(std::move(tokens));
  if (reader.flag("add_space_prefix", false)) parts.pre_tokenizer.add(prefix_space_step());
  parts.pre_tokenizer.append(named.steps);
  set_writing(named.byte_level, parts);
  BpeOptions options;
  options.byte_level = named.byte_level;
  options.byte_fallback = !named.byte_level;
  options.ignore_merges = named.ignore_merges;
  options.whole_line_ends = named.whole_line_ends;
  ORRERY_ASSIGN(parts.model, Bpe::make(parts.vocabulary, merges, options));
  ORRERY_ASSIGN(parts.bos, reader.id({"bos"}, size));
  ORRERY_ASSIGN(parts.eos, reader.id({"eos"}, size));
  ORRERY_ASSIGN(parts.ends, reader.ends(size));
  for (const TokenId id : well_known_ends(parts.added)) parts.ends.push_back(id);
  const bool bos = named.always_bos && parts.bos >= 0;
  const Ids before = bos ? Ids{parts.bos} : reader.around("bos", parts.bos, named.add_bos);
  const Ids after = reader.around("eos", parts.eos, false);
  ORRERY_ASSIGN(parts.post_processor, frame(reader, before, after, size));
  return make_pipeline(std::move(parts));
}

/// The character map is stored as a list of bytes, which some writers sign.
Result<std::optional<Charsmap>> read_charsmap(const GgufReader& reader) {
  const auto* list = reader.integers("precompiled_charsmap");
  if (!list || list->empty()) return std::optional<Charsmap>();
  std::string bytes;
  bytes.reserve(list->size());
  for (const int64_t byte : *list) bytes.push_back(static_cast<char>(byte));
  ORRERY_ASSIGN(Charsmap charsmap, Charsmap::parse(bytes));
  return std::optional(std::move(charsmap));
}

Result<std::shared_ptr<const Tokenizer>> read_sentencepiece(const GgufReader& reader,
                                                            SentencePieceKind kind) {
  const bool bpe = kind == SentencePieceKind::bpe;
  SentencePieceParts parts;
  ORRERY_ASSIGN(parts.tokens, reader.tokens());
  const size_t size = parts.tokens.size();
  ORRERY_ASSIGN(parts.scores, reader.scores(size));
  ORRERY_ASSIGN(parts.types, reader.types(size));
  ORRERY_ASSIGN(parts.unknown, reader.id({"unknown"}, size));
  ORRERY_ASSIGN(parts.bos, reader.id({"bos"}, size));
  ORRERY_ASSIGN(parts.eos, reader.id({"eos"}, size));
  ORRERY_ASSIGN(parts.ends, reader.ends(size));
  ORRERY_ASSIGN(parts.normalization.charsmap, read_charsmap(reader));
  parts.normalization.add_prefix = reader.flag("add_space_prefix", true);
  parts.normalization.remove_extra_spaces = reader.flag("remove_extra_whitespaces", false);
  const Ids before = reader.around("bos", parts.bos, bpe);
  const Ids after = reader.around("eos", parts.eos, !bpe);
  ORRERY_ASSIGN(parts.post_processor, frame(reader, before, after, size));
  return make_sentencepiece(kind, std::move(parts));
}

/// GGUF marks tokens that start a word where the original marks those that continue one.
void restore_continuations(std::vector<std::string>& tokens) {
  for (std::string& token : tokens) {
    if (token.starts_with(kSpaceMark)) {
      token.erase(0, kSpaceMark.size());
    } else if (!(token.starts_with('[') && token.ends_with(']')) && !token.empty()) {
      token.insert(0, "##");
    }
  }
}

Result<std::shared_ptr<const Tokenizer>> read_wordpiece(const GgufReader& reader) {
  ORRERY_ASSIGN(std::vector<std::string> tokens, reader.tokens());
  const size_t size = tokens.size();
  ORRERY_ASSIGN(const std::vector<PieceType> types, reader.types(size));
  PipelineParts parts;
  parts.added = added_tokens(tokens, types);
  restore_continuations(tokens);
  parts.vocabulary = std::make_shared<const Vocabulary>(std::move(tokens));
  BertNormalization normalization;
  normalization.lowercase = reader.flag("normalizer.lowercase", true);
  normalization.strip_accents = reader.flag("normalizer.strip_accents", normalization.lowercase);
  parts.normalizer = bert_normalizer(normalization);
  add_bert_words(parts.pre_tokenizer);
  ORRERY_ASSIGN(const TokenId unknown, reader.id({"unknown"}, size));
  if (unknown < 0) return damaged_key("The model names no unknown token", "unknown_token_id");
  parts.model = std::make_shared<const WordPiece>(*parts.vocabulary, unknown, "##", WordPiece::kLongestWord);
  parts.decoder = {wordpiece_step("##", true)};
  ORRERY_ASSIGN(parts.bos, reader.id({"cls", "bos"}, size));
  // The format's own key is misspelt; some writers correct it.
  ORRERY_ASSIGN(parts.eos, reader.id({"seperator", "separator", "eos"}, size));
  const Ids before = parts.bos >= 0 ? Ids{parts.bos} : Ids{};
  const Ids after = parts.eos >= 0 ? Ids{parts.eos} : Ids{};
  parts.post_processor = PostProcessor::around(before, after, after, 1);
  return make_pipeline(std::move(parts));
}

struct GgufModel {
  std::string_view name;
  Result<std::shared_ptr<const Tokenizer>> (*read)(const GgufReader&);
};
constexpr GgufModel kModels[] = {
    {"gpt2",
     [](const GgufReader& reader) {
       const std::string* pre = reader.text("pre");
       return read_bpe(reader, pre ? *pre : "");
     }},
    {"gemma4", [](const GgufReader& reader) { return read_bpe(reader, "gemma4"); }},
    {"llama", [](const GgufReader& reader) { return read_sentencepiece(reader, SentencePieceKind::bpe); }},
    {"t5", [](const GgufReader& reader) { return read_sentencepiece(reader, SentencePieceKind::unigram); }},
    {"bert", read_wordpiece},
    {"no_vocab",
     [](const GgufReader&) -> Result<std::shared_ptr<const Tokenizer>> { return no_vocabulary(); }},
};

}  // namespace

std::vector<std::string_view> gguf_tokenizer_models() {
  std::vector<std::string_view> names;
  for (const GgufModel& model : kModels) names.push_back(model.name);
  return names;
}

Result<std::shared_ptr<const Tokenizer>> tokenizer_from_gguf(const Metadata& metadata) {
  const GgufReader reader(metadata);
  const std::string* model = reader.text("model");
  if (!model)
    return Error{ErrorCode::unsupported, "The model brings no tokenizer", "tokenizer.ggml.model",
                 "Use a GGUF file that holds its tokenizer"};
  for (const GgufModel& known : kModels)
    if (known.name == *model) return known.read(reader);
  return Error{ErrorCode::unsupported,
               "The tokenizer \"" + replace_invalid(model->substr(0, 60)) + "\" is not supported",
               "tokenizer.ggml.model",
               "BPE (gpt2, gemma4), SentencePiece BPE (llama), unigram (t5) and WordPiece (bert) are"};
}

}  // namespace orrery::text
