// Another program, run with limits: its time, its memory, what it may say.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace orrery::custom {

struct ProcessLimits {
  std::chrono::milliseconds time{20000};
  uint64_t memory_bytes = 0;      // of addresses; 0: no limit
  size_t output_bytes = 1 << 20;  // of each stream; more is dropped
};

struct ProcessEnd {
  std::optional<int> exit_code;  // it ended by itself
  int signal = 0;                // it was killed by one, else 0
  bool late = false;             // by us, as its time was over
  std::string output, errors;    // of stdout and stderr
  std::string report;            // of file descriptor 3
};

/// Waits for it. It and all that it started are killed when its time is over or a stop is asked for
/// (`cancelled`). Refused where it cannot be started.
Result<ProcessEnd> run_process(const std::vector<std::string>& command, const ProcessLimits& limits,
                               std::stop_token stop);

/// The path of a program that is found as the shell finds it; empty: it is not there.
std::string find_program(const std::string& name);

}  // namespace orrery::custom
