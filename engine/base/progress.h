// How long work tells of its progress and is stopped.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "engine/base/result.h"

namespace orrery {

/// Called from the working thread: what is being done, amount done of total (bytes, tokens, rows; total 0:
/// unknown).
using ProgressCallback = std::function<void(std::string_view stage, uint64_t done, uint64_t total)>;

inline Error cancelled_error() { return {ErrorCode::cancelled, "Stopped", "", ""}; }

}  // namespace orrery
