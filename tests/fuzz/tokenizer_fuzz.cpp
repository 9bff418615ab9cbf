// A tokenizer from hostile bytes: as tokenizer.json, as a sentencepiece model, as the vocabulary of a GGUF
// file, and as the files of a folder. The first byte picks; what opens is used.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "engine/text/tokenizer.h"

namespace {

using namespace orrery;
using Text = std::string_view;

/// Tokens end at line ends; scores, types and ids are made of the bytes after them.
Metadata gguf_vocabulary(Text bytes) {
  static constexpr const char* kModels[] = {"gpt2", "llama", "t5", "bert"};
  static constexpr const char* kWords[] = {"", "llama-bpe", "gemma4", "deepseek-v3"};
  Metadata metadata;
  const uint8_t kind = bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0]);
  metadata.set("tokenizer.ggml.model", std::string(kModels[kind & 3]));
  metadata.set("tokenizer.ggml.pre", std::string(kWords[kind >> 2 & 3]));
  std::vector<std::string> tokens, merges;
  std::vector<double> scores;
  std::vector<int64_t> types;
  for (Text rest = bytes.substr(bytes.empty() ? 0 : 1); !rest.empty();) {
    const size_t end = rest.find('\n');
    const Text token = rest.substr(0, end);
    const int tail = token.empty() ? 0 : static_cast<int8_t>(token.back());
    tokens.emplace_back(token);
    scores.push_back(tail / 4.0);
    types.push_back(tail % 7);
    if (token.find(' ') != Text::npos) merges.emplace_back(token);
    rest.remove_prefix(end == Text::npos ? rest.size() : end + 1);
  }
  metadata.set("tokenizer.ggml.bos_token_id", static_cast<int64_t>(kind) - 2);
  metadata.set("tokenizer.ggml.unknown_token_id", int64_t{0});
  if (kind & 0x40) scores.push_back(0);
  metadata.set("tokenizer.ggml.tokens", std::move(tokens));
  metadata.set("tokenizer.ggml.merges", std::move(merges));
  metadata.set("tokenizer.ggml.scores", std::move(scores));
  metadata.set("tokenizer.ggml.token_type", std::move(types));
  return metadata;
}

/// A zero byte ends each file; which ones the folder has is picked by the first byte.
text::TokenizerFiles folder(Text bytes) {
  static constexpr const char* kTypes[] = {"bert", "gpt2", "llama", "mpnet"};
  text::TokenizerFiles files;
  const uint8_t kind = bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0]);
  files.model_type = kTypes[kind & 3];
  Text rest = bytes.substr(bytes.empty() ? 0 : 1);
  const auto take = [&rest] {
    const size_t end = std::min(rest.find('\0'), rest.size());
    std::string file(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return file;
  };
  if (kind & 4) files.config = take();
  if (kind & 8) files.special_tokens_map = take();
  if (kind & 16) files.added_tokens = take();
  if ((kind & 3) == 1) {
    files.merges = take();
    files.vocabulary_json = take();
  } else if ((kind & 3) != 2) {
    files.vocabulary_text = take();
  } else {
    files.sentencepiece = rest;
  }
  return files;
}

Result<std::shared_ptr<const text::Tokenizer>> open(uint8_t kind, Text bytes) {
  if (kind % 4 == 0) return text::tokenizer_from_sentencepiece(bytes, true, true);
  if (kind % 4 == 1) return text::tokenizer_from_gguf(gguf_vocabulary(bytes));
  if (kind % 4 == 2) return text::tokenizer_from_files(folder(bytes));
  return text::tokenizer_from_json(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Text bytes(reinterpret_cast<const char*>(data), size);
  const auto made = data[0] == '{' ? text::tokenizer_from_json(bytes) : open(data[0], bytes.substr(1));
  if (!made.ok()) return 0;
  const text::Tokenizer& tokenizer = **made;
  for (const Text text :
       {Text(" The na\xC3\xAFve  caf\xC3\xA9\n\n12345 \xE4\xB8\xAD\xE6\x96\x87 <s>"), bytes.substr(0, 400)}) {
    const std::vector<text::TokenId> ids = tokenizer.encode(text, true);
    tokenizer.encode_pair(text, text, 16);
    tokenizer.decode(ids);
    for (const text::TokenId id : ids) tokenizer.piece(id);
  }
  return 0;
}
