// A tokenizer put together from its parts, as tokenizer.json names them: added tokens are cut out, the rest
// is normalised, cut into words and spelt by the model; the post-processor frames the whole; the decoder
// leads back.
#pragma once

#include <memory>
#include <vector>

#include "engine/text/added_tokens.h"
#include "engine/text/decoder.h"
#include "engine/text/model.h"
#include "engine/text/normalizer.h"
#include "engine/text/post_processor.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/vocabulary.h"

namespace orrery::text {

struct PipelineParts {
  std::shared_ptr<const Vocabulary> vocabulary;  // required
  std::vector<AddedToken> added;  // normalised ones as they stand, and are decoded, in the normalised text
  NormalizerPtr normalizer;       // null: the text as it is
  PreTokenizer pre_tokenizer;
  std::shared_ptr<const Model> model;  // required
  PostProcessor post_processor;
  Decoder decoder;
  TokenId bos = -1, eos = -1;
  std::vector<TokenId> ends;  // further ids that end a reply
  int64_t truncate_to = 0;
};

/// Refuses ids outside the vocabulary.
Result<std::shared_ptr<const Tokenizer>> make_pipeline(PipelineParts parts);

/// Ids of the control tokens by which known models end a reply ("<|im_end|>", "<|eot_id|>", "</s>", ...).
std::vector<TokenId> well_known_ends(const std::vector<AddedToken>& added);

}  // namespace orrery::text
