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

/// Both, for work of several stages.
struct Watch {
  ProgressCallback told = {};
  std::stop_token stop = {};

  /// Tells what begins, or how far it is; `cancelled` where the work is to end.
  Result<void> stage(std::string_view words, uint64_t done = 0, uint64_t total = 0) const {
    if (stop.stop_requested()) return cancelled_error();
    if (told) told(words, done, total);
    return {};
  }
};

}  // namespace orrery
