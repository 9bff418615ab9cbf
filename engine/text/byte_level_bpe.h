// The tokenizer of GPT-2's kind: added tokens are cut out, the rest is cut into words by patterns, words into
// bytes, and bytes are merged. Every text has ids, and their pieces joined are the text.
#pragma once

#include <array>

#include "engine/text/added_tokens.h"
#include "engine/text/bpe.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/unicode.h"
#include "engine/text/vocabulary.h"

namespace orrery::text {

/// What a model's file says of such a tokenizer.
struct BpeParts {
  std::vector<std::string> tokens;                          // as written, in GPT-2's characters
  std::vector<std::pair<std::string, std::string>> merges;  // in the order of their ranks
  std::vector<AddedToken> added;
  PreTokenizer pre_tokenizer;
  std::vector<NormalForm> normal_forms;
  bool prefix_space = false;           // a space before text that starts with none
  bool ignore_merges = false;          // a word that is a token is that token
  TokenId unknown = -1;                // for bytes without a token
  std::vector<TokenId> before, after;  // what add_special puts around
  TokenId bos = -1, eos = -1;
  std::vector<TokenId> ends;  // further ids that end a reply
  int64_t truncate_to = 0;
};

/// Refuses merges of tokens that are not there, and ids outside the vocabulary.
Result<std::shared_ptr<const Tokenizer>> make_byte_level_bpe(BpeParts parts);

}  // namespace orrery::text
