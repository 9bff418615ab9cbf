// BERT's tokenizer: the text is cleaned, CJK ideographs spaced, accents stripped, lower-cased; cut at white
// space and punctuation; and each word is spelt with the longest pieces that the vocabulary has ("play",
// "##ing").
#pragma once

#include "engine/text/added_tokens.h"
#include "engine/text/vocabulary.h"

namespace orrery::text {

struct WordPieceParts {
  std::vector<std::string> tokens;
  std::vector<AddedToken> added;
  std::string continuing_prefix = "##";
  TokenId unknown = -1;               // required
  int64_t max_word_characters = 100;  // longer words are unknown
  bool clean_text = true, space_cjk = true, strip_accents = true, lowercase = true;
  bool clean_up = true;                // decode: no space before punctuation
  std::vector<TokenId> before, after;  // [CLS], [SEP]
  TokenId bos = -1, eos = -1;
  int64_t truncate_to = 0;
};

Result<std::shared_ptr<const Tokenizer>> make_wordpiece(WordPieceParts parts);

}  // namespace orrery::text
