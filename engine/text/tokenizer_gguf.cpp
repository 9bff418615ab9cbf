// GGUF keeps a tokenizer in its metadata: tokenizer.ggml.model "gpt2" (byte-level BPE), "llama"
// (SentencePiece BPE) or "bert" (WordPiece), tokens, scores, token_type (1 normal, 2 unknown, 3 control, 4
// user-defined, 5 unused, 6 byte), merges, pre, and the special ids.
#include <fmt/format.h>

#include "engine/text/byte_level_bpe.h"
#include "engine/text/sentencepiece_pipeline.h"
#include "engine/text/wordpiece.h"

namespace orrery::text {
namespace {

enum TokenType : int64_t { kUnknown = 2, kControl = 3, kUserDefined = 4 };
constexpr std::string_view kWordStart =
    "\xE2\x96\x81";  // U+2581: WordPiece tokens that start a word carry it in GGUF

Error damaged(std::string what, std::string key) {
  return {ErrorCode::corrupt_file, std::move(what), "tokenizer.ggml." + key, "Get the model file again"};
}

/// An id that the file gives; -1 when it gives none.
Result<TokenId> special_id(const Metadata& metadata, std::string_view name, size_t vocabulary) {
  const auto id = metadata.integer(fmt::format("tokenizer.ggml.{}_token_id", name));
  if (!id) return TokenId{-1};
  if (*id == UINT32_MAX || *id == -1) return TokenId{-1};  // how some writers say "none"
  if (*id < 0 || *id >= static_cast<int64_t>(vocabulary))
    return damaged(fmt::format("The {} id {} is outside the vocabulary of {} tokens", name, *id, vocabulary),
                   std::string(name) + "_token_id");
  return static_cast<TokenId>(*id);
}

Result<std::vector<std::string>> read_tokens(const Metadata& metadata) {
  const auto* tokens = metadata.texts("tokenizer.ggml.tokens");
  if (!tokens || tokens->empty()) return damaged("The model has no list of tokens", "tokens");
  if (tokens->size() > INT32_MAX / 2) return damaged("The list of tokens is too long", "tokens");
  return *tokens;
}

Result<std::vector<AddedToken>> read_added(const Metadata& metadata, const std::vector<std::string>& tokens) {
  std::vector<AddedToken> added;
  const auto* types = metadata.integers("tokenizer.ggml.token_type");
  if (!types) return added;
  if (types->size() != tokens.size())
    return damaged(fmt::format("{} tokens have {} types", tokens.size(), types->size()), "token_type");
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int64_t type = (*types)[i];
    if (type != kControl && type != kUserDefined && type != kUnknown) continue;
    AddedToken token;
    token.content = tokens[i];
    token.id = static_cast<TokenId>(i);
    token.special = type != kUserDefined;
    added.push_back(std::move(token));
  }
  return added;
}

Result<std::vector<std::pair<std::string, std::string>>> read_merges(const Metadata& metadata) {
  std::vector<std::pair<std::string, std::string>> merges;
  const auto* lines = metadata.texts("tokenizer.ggml.merges");
  if (!lines) return damaged("The model has no merges", "merges");
  merges.reserve(lines->size());
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::string& line = (*lines)[i];
    const size_t space = line.find(' ', 1);  // a part may itself be written with a leading space
    if (space == std::string::npos || space + 1 >= line.size())
      return damaged(fmt::format("Merge {} is not two parts with a space between", i), "merges");
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

/// The ids beside EOS that end a reply.
Result<std::vector<TokenId>> read_ends(const Metadata& metadata, size_t vocabulary) {
  std::vector<TokenId> ends;
  for (const std::string_view name : {"eot", "eom"}) {
    ORRERY_ASSIGN(const TokenId id, special_id(metadata, name, vocabulary));
    if (id >= 0) ends.push_back(id);
  }
  return ends;
}

/// {id} where the file (or its silence, by `fallback`) says that texts get this token.
std::vector<TokenId> added_around(const Metadata& metadata, std::string_view name, TokenId id,
                                  bool fallback) {
  const bool add = metadata.flag(fmt::format("tokenizer.ggml.add_{}_token", name)).value_or(fallback);
  return id >= 0 && add ? std::vector<TokenId>{id} : std::vector<TokenId>{};
}

std::vector<TokenId> joined(std::vector<TokenId> ids, const std::vector<TokenId>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

Result<std::shared_ptr<const Tokenizer>> read_bpe(const Metadata& metadata) {
  BpeParts parts;
  ORRERY_ASSIGN(parts.tokens, read_tokens(metadata));
  ORRERY_ASSIGN(parts.added, read_added(metadata, parts.tokens));
  ORRERY_ASSIGN(parts.merges, read_merges(metadata));
  const std::string* pre = metadata.text("tokenizer.ggml.pre");
  ORRERY_ASSIGN(parts.pre_tokenizer, pre_tokenizer_named(pre ? *pre : ""));
  parts.ignore_merges = pre && ignores_merges(*pre);
  parts.prefix_space = metadata.flag("tokenizer.ggml.add_space_prefix").value_or(false);
  const size_t size = parts.tokens.size();
  ORRERY_ASSIGN(parts.bos, special_id(metadata, "bos", size));
  ORRERY_ASSIGN(parts.eos, special_id(metadata, "eos", size));
  ORRERY_ASSIGN(parts.ends, read_ends(metadata, size));
  for (const TokenId id : well_known_ends(parts.added)) parts.ends.push_back(id);
  const bool llama3 = pre && (*pre == "llama-bpe" || *pre == "llama3" || *pre == "llama-v3");
  parts.before = added_around(metadata, "bos", parts.bos, llama3);
  parts.after = added_around(metadata, "eos", parts.eos, false);
  return make_byte_level_bpe(std::move(parts));
}

Result<std::vector<PieceType>> read_types(const Metadata& metadata, const std::vector<std::string>& tokens) {
  std::vector<PieceType> types(tokens.size(), PieceType::normal);
  const auto* list = metadata.integers("tokenizer.ggml.token_type");
  if (!list) return types;
  if (list->size() != tokens.size())
    return damaged(fmt::format("{} tokens have {} types", tokens.size(), list->size()), "token_type");
  for (size_t i = 0; i < types.size(); ++i) {
    const int64_t type = (*list)[i];
    if (type >= 1 && type <= 6) types[i] = static_cast<PieceType>(type);
  }
  return types;
}

Result<std::vector<float>> read_scores(const Metadata& metadata, size_t vocabulary) {
  const auto* list = metadata.numbers("tokenizer.ggml.scores");
  if (!list || list->size() != vocabulary)
    return damaged(fmt::format("{} tokens have {} scores", vocabulary, list ? list->size() : 0), "scores");
  return std::vector<float>(list->begin(), list->end());
}

Result<std::shared_ptr<const Tokenizer>> read_sentencepiece_bpe(const Metadata& metadata) {
  SentencePieceParts parts;
  ORRERY_ASSIGN(parts.tokens, read_tokens(metadata));
  const size_t size = parts.tokens.size();
  ORRERY_ASSIGN(parts.scores, read_scores(metadata, size));
  ORRERY_ASSIGN(parts.types, read_types(metadata, parts.tokens));
  ORRERY_ASSIGN(parts.unknown, special_id(metadata, "unknown", size));
  ORRERY_ASSIGN(parts.bos, special_id(metadata, "bos", size));
  ORRERY_ASSIGN(parts.eos, special_id(metadata, "eos", size));
  ORRERY_ASSIGN(parts.ends, read_ends(metadata, size));
  parts.space_prefix = metadata.flag("tokenizer.ggml.add_space_prefix").value_or(true);
  const std::vector<TokenId> before = added_around(metadata, "bos", parts.bos, true);
  const std::vector<TokenId> after = added_around(metadata, "eos", parts.eos, false);
  parts.post_processor = PostProcessor::around(before, joined(after, before), after, 1);
  return make_sentencepiece_bpe(std::move(parts));
}

/// GGUF marks tokens that start a word where the original marks those that continue one.
void restore_continuations(std::vector<std::string>& tokens) {
  for (std::string& token : tokens) {
    if (token.starts_with(kWordStart)) {
      token.erase(0, kWordStart.size());
    } else if (!(token.starts_with('[') && token.ends_with(']')) && !token.empty()) {
      token.insert(0, "##");
    }
  }
}

Result<std::shared_ptr<const Tokenizer>> read_wordpiece(const Metadata& metadata) {
  WordPieceParts parts;
  ORRERY_ASSIGN(parts.tokens, read_tokens(metadata));
  ORRERY_ASSIGN(parts.added, read_added(metadata, parts.tokens));
  restore_continuations(parts.tokens);
  const size_t size = parts.tokens.size();
  ORRERY_ASSIGN(parts.unknown, special_id(metadata, "unknown", size));
  if (parts.unknown < 0) return damaged("The model names no unknown token", "unknown_token_id");
  ORRERY_ASSIGN(parts.bos, special_id(metadata, "cls", size));
  if (parts.bos < 0) {
    ORRERY_ASSIGN(parts.bos, special_id(metadata, "bos", size));
  }
  // The format's own key is misspelt; some writers correct it.
  for (const std::string_view name : {"seperator", "separator", "eos"}) {
    if (parts.eos >= 0) break;
    ORRERY_ASSIGN(parts.eos, special_id(metadata, name, size));
  }
  if (parts.bos >= 0) parts.before = {parts.bos};
  if (parts.eos >= 0) parts.after = {parts.eos};
  return make_wordpiece(std::move(parts));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizer_from_gguf(const Metadata& metadata) {
  const std::string* model = metadata.text("tokenizer.ggml.model");
  if (!model)
    return Error{ErrorCode::unsupported, "The model brings no tokenizer", "tokenizer.ggml.model",
                 "Use a GGUF file that holds its tokenizer"};
  if (*model == "gpt2") return read_bpe(metadata);
  if (*model == "llama") return read_sentencepiece_bpe(metadata);
  if (*model == "bert") return read_wordpiece(metadata);
  return Error{ErrorCode::unsupported, "The tokenizer \"" + model->substr(0, 60) + "\" is not supported yet",
               "tokenizer.ggml.model",
               "Byte-level BPE (gpt2), SentencePiece BPE (llama) and WordPiece (bert) are"};
}

}  // namespace orrery::text
