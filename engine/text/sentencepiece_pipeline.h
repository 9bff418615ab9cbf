// A tokenizer of SentencePiece's kind from what a GGUF file or a tokenizer.model says of it.
#pragma once

#include "engine/text/charsmap.h"
#include "engine/text/piece_table.h"
#include "engine/text/pipeline.h"

namespace orrery::text {

struct SentencePieceParts {
  std::vector<std::string> tokens;  // at least one
  std::vector<double> scores;       // one for each token
  std::vector<PieceType> types;     // one for each token
  TokenId unknown = -1;
  bool byte_fallback = true;
  SentencePieceNormalization normalization;  // its prefix stands before each run of text
  PostProcessor post_processor;
  TokenId bos = -1, eos = -1;
  std::vector<TokenId> ends;
};

enum class SentencePieceKind { bpe, unigram };
Result<std::shared_ptr<const Tokenizer>> make_sentencepiece(SentencePieceKind kind, SentencePieceParts parts);

}  // namespace orrery::text
