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
  /// A space that each run of text, or the first, gets unless it has one; instead of the normalization's.
  PrependScheme prefix = PrependScheme::never;
  std::vector<AddedToken> added;  // that a file beside the model tells of, some after `tokens`
  PostProcessor post_processor;
  TokenId bos = -1, eos = -1;
  std::vector<TokenId> ends;
};

enum class SentencePieceKind { bpe, unigram };
Result<std::shared_ptr<const Tokenizer>> make_sentencepiece(SentencePieceKind kind, SentencePieceParts parts);

/// What a tokenizer.model holds; nothing stands around a text yet.
struct SentencePieceFile {
  SentencePieceKind kind = SentencePieceKind::unigram;
  SentencePieceParts parts;
};
Result<SentencePieceFile> read_sentencepiece_file(std::string_view bytes);
/// Each text stands between BOS and EOS, where it is asked for and the model has them.
void set_ends(SentencePieceParts& parts, bool add_bos, bool add_eos);

}  // namespace orrery::text
