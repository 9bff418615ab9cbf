// Talking to a model in a terminal: replies stream, what was said is kept, lines that begin with "/" are
// commands.
#pragma once

#include "app/cli/context.h"
#include "engine/api/session.h"

namespace orrery::cli {

/// Reads lines from stdin until it ends or /quit. The messages of `settings` open every conversation (a
/// system message).
Result<int> converse(api::Session& session, api::ChatRequest settings, Context& context);

/// "38 tokens, 41.2 tokens/s, first after 120 ms"
std::string figures_of(const api::ChatResult& result);

}  // namespace orrery::cli
