// The tokenizer of files that say that they have none ("no_vocab" in GGUF): such a model runs on ids.
#pragma once

#include <memory>

#include "engine/text/tokenizer.h"

namespace orrery::text {

/// Of no tokens: every text is no ids, every id no text.
std::shared_ptr<const Tokenizer> no_vocabulary();

}  // namespace orrery::text
