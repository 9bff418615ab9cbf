// Texts through an encoder: what goes in as tokens, what comes out as labels and probabilities.
#pragma once

#include "engine/generate/generator.h"

namespace orrery::generate {

/// The ids of a text with what the model adds around it, cut to `limit` tokens; the closing special token is
/// kept.
std::vector<text::TokenId> encode_within(const text::Tokenizer& tokenizer, std::string_view text,
                                         int64_t limit);

/// exp(x - max) / sum; NaN where the logits have no finite maximum.
std::vector<float> softmax(std::span<const float> logits);
/// How likely each label is: the softmax, or of a single label (relevance) 1 / (1 + exp(-logit)).
std::vector<float> label_probabilities(std::span<const float> logits);

/// Texts as an encoder reads them, each cut to `limit` tokens (0: not).
struct EncodedTexts {
  std::vector<std::vector<text::TokenId>> ids;
  std::vector<std::vector<int32_t>> types;  // of pairs; empty: all tokens have type 0
};
EncodedTexts encode_each(const text::Tokenizer& tokenizer, const std::vector<std::string>& texts,
                         int64_t limit);
/// `first` with each of the others.
EncodedTexts encode_pairs(const text::Tokenizer& tokenizer, const std::string& first,
                          const std::vector<std::string>& others, int64_t limit);

/// Runs the texts in packed steps and tells what the model makes of each in order, on the calling thread.
/// Returns how many were done: fewer than asked for after a stop request or a callback that said false.
Result<size_t> run_encoder(const Engine& engine, EncodedTexts texts, runtime::EncodeCallback on_result,
                           std::stop_token stop);

}  // namespace orrery::generate
