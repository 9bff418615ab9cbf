// The first run of an op, in a process of its own (trial/): what it found, and what it means where that
// process ended before it told.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace orrery::custom {

struct Check {
  bool ok = false;
  std::string text;  // "5 sizes on the CPU: stays within its operands, ..."
};

/// A body on one of the cases that it was tried with.
struct TrialCase {
  std::string body;     // "bias_gelu", "bias_gelu_backward"
  std::string words;    // "src f32[7, 5], bias f32[5]"
  std::string device;   // "CPU", one thread of it; the card's name
  std::string against;  // "the reference", "the CPU body": what its numbers were held against; empty: nothing
  double difference = 0, allowed = 0;  // the largest, of the largest number of its output
  double us = 0;                       // of a call, the median

  bool over() const { return !(difference <= allowed); }
};

struct Trial {
  bool passed = false;
  std::vector<Check> checks;  // up to the first that failed
  std::vector<TrialCase> cases;
};

struct TrialLimits {
  std::chrono::milliseconds compile_time{60000}, time{20000};
  uint64_t memory_bytes = uint64_t{4} << 30;
};

/// Refused where the trial cannot be started, and `cancelled`.
Result<Trial> try_on_cpu(const std::filesystem::path& library, const TrialLimits& limits,
                         std::stop_token stop);
/// An empty image: the library launches its own kernels.
Result<Trial> try_on_card(const std::filesystem::path& library, const std::filesystem::path& image, int card,
                          const TrialLimits& limits, std::stop_token stop);

/// What remains after all checks, for whoever adds an op.
inline constexpr std::string_view kRemainingRisk =
    "It runs as part of this program, with your rights: a trial finds mistakes, not intent, and other sizes "
    "may show "
    "others. Add what you wrote or trust.";

}  // namespace orrery::custom
