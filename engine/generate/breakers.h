// The token sequences over which no repetition goes: what DRY (kernels/sampler_chain.h) takes for breakers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/text/tokenizer.h"

namespace orrery::generate {

/// Of each text: the tokens that hold it, and those that it begins in, each with the tokens of its rest.
/// Ascending, each once. Empty texts are left out; of a longer one than 40 bytes its beginning counts.
std::vector<std::vector<text::TokenId>> breaker_sequences(std::span<const std::string> texts,
                                                          const text::Tokenizer& tokenizer);

}  // namespace orrery::generate
