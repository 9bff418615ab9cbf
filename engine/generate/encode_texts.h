// Texts through an encoder: the classifier's labels and probabilities, the embedder's vectors.
#pragma once

#include "engine/generate/generator.h"

namespace orrery::generate {

/// The ids of a text with what the model adds around it, cut to `limit` tokens; the closing special token is
/// kept.
std::vector<text::TokenId> encode_within(const text::Tokenizer& tokenizer, std::string_view text,
                                         int64_t limit);

/// exp(x - max) / sum; NaN where the logits have no finite maximum.
std::vector<float> softmax(std::span<const float> logits);

/// Runs the texts in packed steps and tells each row in order, on the scheduler's thread. Returns how many
/// were done: fewer than asked for after a stop request or a callback that said false.
Result<size_t> encode_texts(const Engine& engine, const std::vector<std::string>& texts, int64_t limit,
                            runtime::EncodeCallback on_row, std::stop_token stop);

}  // namespace orrery::generate
