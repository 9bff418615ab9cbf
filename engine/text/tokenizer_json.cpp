// Puts a tokenizer together as tokenizer.json says.
#include <algorithm>

#include "engine/text/tokenizer_json_parts.h"

namespace orrery::text {
namespace {

using nlohmann::json;

Result<std::vector<AddedToken>> read_added(const json& list) {
  std::vector<AddedToken> added;
  if (list.is_null()) return added;
  if (!list.is_array()) return json_damaged("added_tokens is not a list");
  for (const json& entry : list) {
    AddedToken token;
    ORRERY_ASSIGN(token.id, id_of(member(entry, "id")));
    token.content = text_of(entry, "content");
    token.special = flag_of(entry, "special", false);
    token.normalized = flag_of(entry, "normalized", !token.special);
    token.single_word = flag_of(entry, "single_word", false);
    token.strip_left = flag_of(entry, "lstrip", false);
    token.strip_right = flag_of(entry, "rstrip", false);
    added.push_back(std::move(token));
  }
  return added;
}

/// Where no file says it, BOS is what stands before a text; EOS the first token that is known to end replies,
/// else what comes after.
void find_ends(const TokenizerJson& file, PipelineParts& parts) {
  parts.ends = well_known_ends(parts.added);
  const auto& items = parts.post_processor.single;
  if (!items.empty() && items.front().kind == PostProcessor::Item::Kind::token) parts.bos = items.front().id;
  if (!parts.ends.empty())
    parts.eos = parts.ends.front();
  else if (!items.empty() && items.back().kind == PostProcessor::Item::Kind::token)
    parts.eos = items.back().id;
  if (const TokenId bos = parts.vocabulary->find(file.bos); bos >= 0) parts.bos = bos;
  if (const TokenId eos = parts.vocabulary->find(file.eos); eos >= 0) parts.eos = eos;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizer_from_json(std::string_view text) {
  ORRERY_ASSIGN(TokenizerJson file, read_tokenizer_json(text));
  return assemble(std::move(file));
}

Result<std::shared_ptr<const Tokenizer>> assemble(TokenizerJson file) {
  PipelineParts parts;
  ORRERY_ASSIGN(parts.added, read_added(member(file.rest, "added_tokens")));
  ORRERY_ASSIGN(JsonPreTokenizer pre_tokenizer, read_pre_tokenizer(member(file.rest, "pre_tokenizer")));
  ORRERY_ASSIGN(const bool takes_bytes, read_model(file, parts.added, pre_tokenizer.ends_in_bytes, parts));
  parts.pre_tokenizer = std::move(pre_tokenizer.steps);
  if (pre_tokenizer.ends_in_bytes && !takes_bytes) parts.pre_tokenizer.add(byte_characters_step());
  ORRERY_ASSIGN(parts.normalizer, read_normalizer(member(file.rest, "normalizer")));
  ORRERY_ASSIGN(parts.post_processor, read_post_processor(member(file.rest, "post_processor")));
  ORRERY_ASSIGN(parts.decoder, read_decoder(member(file.rest, "decoder")));
  if (parts.normalizer)
    for (AddedToken& token : parts.added)
      if (token.normalized) parts.normalizer->apply(token.content);
  parts.truncate_to = std::max<int64_t>(0, integer_of(member(file.rest, "truncation"), "max_length", 0));
  find_ends(file, parts);
  return make_pipeline(std::move(parts));
}

}  // namespace orrery::text
