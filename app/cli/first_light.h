// The first look without a window: what the desktop program does at its first start, in a terminal or in a
// script.
#pragma once

#include <string>

#include "app/cli/context.h"
#include "engine/base/result.h"

namespace orrery::cli {

/// On a terminal: a conversation with the default chat model. Elsewhere: one built-in question and one
/// built-in sentence to classify, answers and latencies on stdout. A model that is named does alone what it
/// is made for.
Result<int> first_light(Context& context, const std::string& model);

}  // namespace orrery::cli
