#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/text/bpe.h"
#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"
#include "engine/text/unigram.h"
#include "engine/text/wordpiece.h"

namespace orrery::text {
namespace {

using nlohmann::json;

/// Tokens by id. Ids may have holes, but not so many that a small file asks for a large table.
Result<std::vector<std::string>> place_tokens(TokenizerJson& file, const std::vector<AddedToken>& added) {
  const int64_t limit =
      2 * static_cast<int64_t>(file.vocabulary.size() + file.pieces.size() + added.size()) + 65536;
  int64_t highest = static_cast<int64_t>(file.pieces.size()) - 1;
  const auto check = [&](int64_t id, const std::string& token) -> Result<void> {
    if (id < 0 || id >= limit)
      return json_damaged(
          fmt::format("The id {} of \"{}\" is out of range", id, replace_invalid(token.substr(0, 60))));
    highest = std::max(highest, id);
    return {};
  };
  for (const auto& [token, id] : file.vocabulary) ORRERY_TRY(check(id, token));
  for (const AddedToken& token : added) ORRERY_TRY(check(token.id, token.content));
  if (highest < 0) return json_damaged("The vocabulary is empty");
  std::vector<std::string> tokens(static_cast<size_t>(highest + 1));
  for (size_t i = 0; i < file.pieces.size(); ++i) tokens[i] = std::move(file.pieces[i].first);
  for (auto& [token, id] : file.vocabulary) tokens[static_cast<size_t>(id)] = std::move(token);
  for (const AddedToken& token : added) tokens[static_cast<size_t>(token.id)] = token.content;
  return tokens;
}

Result<std::shared_ptr<const Vocabulary>> make_vocabulary(TokenizerJson& file,
                                                          const std::vector<AddedToken>& added) {
  ORRERY_ASSIGN(std::vector<std::string> tokens, place_tokens(file, added));
  std::vector<bool> own(tokens.size());
  for (size_t i = 0; i < file.pieces.size(); ++i) own[i] = true;
  for (const auto& [token, id] : file.vocabulary) own[static_cast<size_t>(id)] = true;
  std::vector<TokenId> beside;
  for (const AddedToken& token : added)
    if (!own[static_cast<size_t>(token.id)]) beside.push_back(token.id);
  auto vocabulary = std::make_shared<Vocabulary>(std::move(tokens));
  vocabulary->keep_from_spelling(beside);
  return std::shared_ptr<const Vocabulary>(std::move(vocabulary));
}

Result<bool> read_bpe(const TokenizerJson& file, const json& model, bool byte_level, PipelineParts& parts) {
  BpeOptions options;
  options.continuing_prefix = text_of(model, "continuing_subword_prefix");
  options.word_suffix = text_of(model, "end_of_word_suffix");
  options.fuse_unknown = flag_of(model, "fuse_unk", false);
  options.byte_fallback = flag_of(model, "byte_fallback", false);
  options.ignore_merges = flag_of(model, "ignore_merges", false);
  options.unknown = parts.vocabulary->find(text_of(model, "unk_token"));
  options.byte_level = byte_level && options.continuing_prefix.empty() && options.word_suffix.empty() &&
                       !options.byte_fallback;
  const bool takes_bytes = options.byte_level;
  ORRERY_ASSIGN(parts.model, Bpe::make(parts.vocabulary, file.merges, std::move(options)));
  return takes_bytes;
}

Result<void> read_unigram(const TokenizerJson& file, const json& model, PipelineParts& parts) {
  const size_t size = parts.vocabulary->size(), spelling = file.pieces.size();
  std::vector<double> scores(size);
  std::vector<PieceType> types(size, PieceType::control);
  for (size_t i = 0; i < spelling; ++i) {
    if (!std::isfinite(file.pieces[i].second))
      return json_damaged(fmt::format("The score of token {} is no number", i));
    scores[i] = file.pieces[i].second;
    types[i] = PieceType::normal;
  }
  const json& unknown = member(model, "unk_id");
  TokenId unknown_id = -1;
  if (!unknown.is_null()) {
    ORRERY_ASSIGN(unknown_id, id_of(unknown));
    if (static_cast<size_t>(unknown_id) >= spelling)
      return json_damaged(fmt::format("The unknown id {} is not in the vocabulary", unknown_id));
  }
  auto pieces = std::make_shared<const PieceTable>(parts.vocabulary, std::move(scores), std::move(types),
                                                   unknown_id, flag_of(model, "byte_fallback", false));
  parts.model = std::make_shared<const Unigram>(std::move(pieces), Unigram::Precision::twofold);
  return {};
}

Result<void> read_wordpiece(const json& model, PipelineParts& parts) {
  const std::string unknown = text_of(model, "unk_token", "[UNK]");
  const TokenId id = parts.vocabulary->find(unknown);
  if (id < 0)
    return json_damaged("The unknown token \"" + replace_invalid(unknown.substr(0, 60)) +
                        "\" is not in the vocabulary");
  const int64_t longest = integer_of(model, "max_input_chars_per_word", WordPiece::kLongestWord);
  if (longest < 1 || longest > 1000)
    return Error{ErrorCode::unsupported, "The longest word must be between 1 and 1000 characters",
                 "max_input_chars_per_word", "Use a tokenizer with a usual limit (100)"};
  parts.model = std::make_shared<const WordPiece>(
      *parts.vocabulary, id, text_of(model, "continuing_subword_prefix", "##"), static_cast<size_t>(longest));
  return {};
}

/// Old files leave the type out; each kind has members of its own.
std::string type_of(const TokenizerJson& file, const json& model) {
  const std::string type = text_of(model, "type");
  if (!type.empty()) return type;
  if (!file.pieces.empty()) return "Unigram";
  if (!file.merges.empty() || !member(model, "end_of_word_suffix").is_null()) return "BPE";
  return member(model, "max_input_chars_per_word").is_null() ? "WordLevel" : "WordPiece";
}

constexpr std::string_view kModelTypes[] = {"BPE", "Unigram", "WordPiece", "WordLevel"};

}  // namespace

std::vector<std::string_view> model_types() { return {std::begin(kModelTypes), std::end(kModelTypes)}; }

Result<bool> read_model(TokenizerJson& file, const std::vector<AddedToken>& added, bool byte_level,
                        PipelineParts& parts) {
  const json& model = member(file.rest, "model");
  const std::string type = type_of(file, model);
  ORRERY_ASSIGN(parts.vocabulary, make_vocabulary(file, added));
  if (type == "BPE") return read_bpe(file, model, byte_level, parts);
  if (type == "Unigram") {
    ORRERY_TRY(read_unigram(file, model, parts));
  } else if (type == "WordPiece") {
    ORRERY_TRY(read_wordpiece(model, parts));
  } else if (type == "WordLevel") {
    parts.model = std::make_shared<const WordLevel>(parts.vocabulary,
                                                    parts.vocabulary->find(text_of(model, "unk_token")));
  } else {
    return json_unsupported("tokenizer model", type);
  }
  return false;
}

}  // namespace orrery::text
