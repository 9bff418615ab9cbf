// The passes of a model one by one: what each did to the graph that runs, and what it is worth, measured with
// it and without it beside the session.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/progress.h"
#include "engine/base/result.h"

namespace orrery::api {

class Session;

/// What one pass did to the graph of the largest step.
struct PassReport {
  std::string name, doc;
  bool disabled = false;  // by its name, or with the fusion
  bool fuses = false;     // one of those that are left out with the fusion
  int rewrites = 0;
  double ms = 0;                          // of the pass itself
  int nodes_before = 0, nodes_after = 0;  // that compute something
  std::vector<NodeId> made;               // nodes of the graph that runs which it made, or gave another type
};

/// In the order they run. Any thread; runs them again on the session's graph, some ms.
Result<std::vector<PassReport>> pass_reports(const Session& session);

struct PassGainOptions {
  int64_t prompt = 128, gen = 16;  // tokens read and written by a model that writes
  int64_t tokens = 128;            // of a text of one that does not
  int rounds = 9;                  // in each both are measured, in turns
};

/// The time of a step over the rounds, in µs: the median, and where three quarters of all lie.
struct StepSpread {
  double us = 0, low = 0, high = 0;
};
StepSpread spread_of(std::vector<double> times);

/// A step with the pass and without it.
struct StepGain {
  StepSpread with, without;
  /// What the pass does to the time: -0.04 is 4 % less.
  double change() const { return without.us > 0 ? with.us / without.us - 1 : 0; }
  /// Both lie where the other one does, so that nothing can be told.
  bool within_noise() const { return with.low <= without.high && without.low <= with.high; }
};

struct PassGain {
  std::string pass;
  int rewrites = 0;  // 0: it finds nothing here, so nothing was measured
  int rounds = 0;
  std::optional<StepGain> decode, prefill, encode;  // of a token, of the whole prompt, of a text
};

/// Measures on two forks of the session, one with the pass and one without; all other passes are as they are
/// there. Any thread; waits, some seconds. A reply of the session goes on meanwhile, and disturbs it.
Result<PassGain> pass_gain(const Session& session, const std::string& pass, const PassGainOptions& options,
                           const ProgressCallback& progress, const std::stop_token& stop);

}  // namespace orrery::api
