#include "engine/text/sentencepiece_pipeline.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "engine/text/sentencepiece_bpe.h"
#include "engine/text/unicode.h"
#include "engine/text/unigram.h"

namespace orrery::text {
namespace {

Error damaged(std::string what) {
  return {ErrorCode::corrupt_file, std::move(what), "SentencePiece",
          "The tokenizer of this model is damaged; get the file again"};
}

Result<void> check(const SentencePieceParts& parts) {
  const size_t size = parts.tokens.size();
  if (parts.scores.size() != size || parts.types.size() != size)
    return damaged(
        fmt::format("{} tokens have {} scores and {} types", size, parts.scores.size(), parts.types.size()));
  for (size_t i = 0; i < size; ++i)
    if (!std::isfinite(static_cast<float>(parts.scores[i])))
      return damaged(fmt::format("The score of token {} is no number", i));
  if (parts.unknown < -1 || parts.unknown >= static_cast<int64_t>(size))
    return damaged(
        fmt::format("The unknown id {} is outside the vocabulary of {} tokens", parts.unknown, size));
  return {};
}

/// Tokens that a file beside the model added get their places after the model's.
void place_added(SentencePieceParts& parts) {
  for (const AddedToken& token : parts.added) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= parts.tokens.size()) {
      parts.tokens.resize(id + 1);
      parts.scores.resize(id + 1);
      parts.types.resize(id + 1, PieceType::control);  // holes have no text that could be found
    }
    parts.tokens[id] = token.content;
    parts.types[id] = token.special ? PieceType::control : PieceType::user_defined;
  }
}

/// Control tokens and what the model's users defined are found in the text before anything else.
std::vector<AddedToken> added_of(const SentencePieceParts& parts) {
  std::vector<AddedToken> added = parts.added;
  std::unordered_set<TokenId> told;
  for (const AddedToken& token : added) told.insert(token.id);
  for (size_t i = 0; i < parts.tokens.size(); ++i) {
    if (told.contains(static_cast<TokenId>(i))) continue;
    const PieceType type = parts.types[i];
    if (type != PieceType::control && type != PieceType::user_defined && type != PieceType::unknown) continue;
    AddedToken token;
    token.content = replace_all(parts.tokens[i], " ", kSpaceMark);
    token.id = static_cast<TokenId>(i);
    token.special = type != PieceType::user_defined;
    // Where characters are rewritten first, these are not.
    token.normalized = !token.special && !parts.normalization.charsmap;
    added.push_back(std::move(token));
  }
  return added;
}

NormalizerPtr normalizer_of(SentencePieceNormalization normalization) {
  std::vector<NormalizerPtr> steps;
  if (normalization.charsmap || normalization.remove_extra_spaces)
    steps.push_back(sentencepiece_normalizer(std::move(normalization)));
  else if (normalization.add_prefix)
    steps.push_back(prepend_normalizer(" "));
  steps.push_back(replace_normalizer(" ", std::string(kSpaceMark)));
  return normalizer_sequence(std::move(steps));
}

Decoder decoder_of(const SentencePieceParts& parts) {
  Decoder decoder{replace_step(std::string(kSpaceMark), " "), byte_fallback_step(), fuse_step()};
  if (parts.normalization.add_prefix || parts.prefix != PrependScheme::never)
    decoder.push_back(strip_step(U' ', 1, 0));
  return decoder;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_sentencepiece(SentencePieceKind kind,
                                                            SentencePieceParts parts) {
  place_added(parts);
  ORRERY_TRY(check(parts));
  PipelineParts pipeline;
  pipeline.added = added_of(parts);
  pipeline.decoder = decoder_of(parts);
  pipeline.normalizer = normalizer_of(std::move(parts.normalization));
  if (parts.prefix != PrependScheme::never)
    pipeline.pre_tokenizer.add(metaspace_step(std::string(kSpaceMark), parts.prefix, false));
  pipeline.post_processor = std::move(parts.post_processor);
  pipeline.bos = parts.bos;
  pipeline.eos = parts.eos;
  pipeline.ends = std::move(parts.ends);
  for (const TokenId id : well_known_ends(pipeline.added)) pipeline.ends.push_back(id);
  pipeline.vocabulary = std::make_shared<const Vocabulary>(std::move(parts.tokens));
  auto pieces =
      std::make_shared<const PieceTable>(pipeline.vocabulary, std::move(parts.scores), std::move(parts.types),
                                         parts.unknown, parts.byte_fallback);
  if (kind == SentencePieceKind::bpe)
    pipeline.model = std::make_shared<const SentencePieceBpe>(std::move(pieces));
  else
    pipeline.model = std::make_shared<const Unigram>(std::move(pieces), Unigram::Precision::single);
  return make_pipeline(std::move(pipeline));
}

}  // namespace orrery::text
