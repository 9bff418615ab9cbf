// What was measured of a model's runs: the one table of a phase that every figure of a node, a group or the
// whole step is read from, by the window, the exports and the command line alike.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/api/types.h"

namespace orrery::api {

/// Runs that a table looks back on, and tokens or texts that its latency does.
inline constexpr size_t kProfileRuns = 64;

/// Runs in a row, summarised, in microseconds. Of a group its members are added up in each run first, so that
/// no share of a larger group exceeds 100 %.
struct Timing {
  /// The figure to show. The median while text is written; of a prefill, whose runs differ in length, the
  /// last.
  double us = 0;
  double last_us = 0, p50_us = 0, p95_us = 0, mean_us = 0;
  size_t runs = 0;  // 0: nothing was measured
};

/// `times`: nanoseconds by run, oldest first. Percentiles are nearest-rank.
Timing summarise(std::span<const int64_t> times, Phase phase);
/// Timing::us alone; 0 without runs.
double shown_us(std::span<const int64_t> times, Phase phase);

/// What nodes took together, and what they moved and computed in the run that bytes and flops are told of.
struct Measured {
  Timing timing;
  double bytes = 0, flops = 0;
  double memory_us = 0, compute_us = 0;  // the least that the machine could take; 0: not known
  bool estimated = false;                // part of it is a fused node's time that was shared out
};

/// Times of the nodes of one graph by run. Whole nanoseconds, so that a sum is the same in any order.
class NodeTimes {
 public:
  struct Row {
    NodeId node;
    double bytes = 0, flops = 0;
    bool estimated = false;
    double memory_us = 0, compute_us = 0;  // the least that the machine could take; 0: not known
  };

  NodeTimes() = default;
  explicit NodeTimes(size_t runs) : runs_(runs) {}

  /// Adds a share of what was measured to a node, which begins at nothing.
  void add(NodeId node, std::span<const int64_t> times, double share, const Row& whole);

  size_t runs() const { return runs_; }
  const std::vector<Row>& rows() const { return rows_; }  // in the order of the steps that ran
  std::span<const int64_t> times(size_t row) const { return {times_.data() + row * runs_, runs_}; }
  std::optional<size_t> find(NodeId node) const;

 private:
  size_t runs_ = 0;
  std::vector<Row> rows_;
  std::vector<int64_t> times_;  // (rows, runs)
  std::unordered_map<NodeId, size_t> index_;
};

/// Empty after an edit and for another model until something ran. Never of two phases.
struct Profile {
  Phase phase = Phase::decode;
  uint64_t generation = 0;                       // another one: something was recorded since
  graph::GraphVersion model_graph, fused_graph;  // that it was measured of
  int64_t tokens = 0;                            // of the last run
  NodeTimes model, fused;                        // estimated by share; measured
  Timing step;                                   // the whole run
  Timing latency;                                // of a token, a prompt (prefill) or a text that was encoded
  double overhead_share = 0;                     // of profiling, in the step

  const NodeTimes& of(bool fused_shown) const { return fused_shown ? fused : model; }
  /// Of nodes of either graph; those that did not run count nothing.
  Measured measured(std::span<const NodeId> nodes, bool fused_shown) const;
  Measured measured(NodeId node, bool fused_shown) const { return measured({&node, 1}, fused_shown); }
  /// A share of the step, at most 1; 0: not measured.
  double share(double us) const { return step.us > 0 ? std::min(us / step.us, 1.0) : 0; }
  /// Tokens or texts a second; 0: none was told of.
  double per_second() const { return latency.mean_us > 0 ? 1e6 / latency.mean_us : 0; }
};
using ProfilePtr = std::shared_ptr<const Profile>;

}  // namespace orrery::api
