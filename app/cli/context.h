// What every verb gets beside its own options.
#pragma once

#include <string>
#include <vector>

#include "app/cli/interrupts.h"

namespace orrery::cli {

inline constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

struct Context {
  bool json = false;   // one document on stdout
  bool quiet = false;  // no progress, no figures on stderr
  Interrupts& interrupts;
  bool text_given = false;
  std::vector<std::string> texts = {};  // of --text, see take_texts()

  std::stop_token stop() const { return interrupts.token(); }
};

}  // namespace orrery::cli
