// The pre-tokenizers that GGUF files name in tokenizer.ggml.pre, and what else the name implies.
#pragma once

#include "engine/text/pre_tokenizer.h"

namespace orrery::text {

struct GgufPreTokenizer {
  PreTokenizer steps;
  bool ignore_merges = false;  // a word that is a token is that token
  bool add_bos = false;        // unless the file says otherwise
  bool always_bos = false;     // whatever the file says
  bool byte_level = true;      // tokens are written in the characters of byte_level.h; else spaces are U+2581
  bool whole_line_ends = false;  // line ends that are a token together are that token
};

/// "llama-bpe", "qwen2", "smollm", ...; without a name "gpt-2".
Result<GgufPreTokenizer> gguf_pre_tokenizer(std::string_view name);
/// All names, in order.
std::vector<std::string_view> gguf_pre_tokenizer_names();

/// The models of tokenizer.ggml.model (tokenizer_gguf.cpp).
std::vector<std::string_view> gguf_tokenizer_models();

}  // namespace orrery::text
