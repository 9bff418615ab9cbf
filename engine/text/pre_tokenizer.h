// What cuts a text into the words that a tokenizer's model then sees: splitters one after the other, each on
// the segments of the one before.
#pragma once

#include <string_view>
#include <vector>

#include "engine/text/regex_splitter.h"

namespace orrery::text {

class PreTokenizer {
 public:
  void add(RegexSplitter splitter) { stages_.push_back(std::move(splitter)); }
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  std::vector<RegexSplitter> stages_;
};

/// GPT-2's pattern, the default of byte-level pre-tokenizers.
const std::string& gpt2_pattern();
/// Each number character by itself.
const std::string& single_digits_pattern();

/// By the name in tokenizer.ggml.pre ("smollm", "llama-bpe", "qwen2", ...); empty is GPT-2's.
Result<PreTokenizer> pre_tokenizer_named(std::string_view name);
/// Whether a word that is in the vocabulary as a whole is taken without merging (llama-bpe, tekken).
bool ignores_merges(std::string_view name);

}  // namespace orrery::text
