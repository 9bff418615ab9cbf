// Graph to Graph rewrites before compiling. One file per pass; the manager times, can disable, verifies and
// snapshots each. A pass keeps the id of a node that it does not touch; a fused node names its origins with
// their modelled shares.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ops/lowering.h"

namespace orrery::passes {

class Draft;

/// When a pass runs: once, on what a person edits; or on what came of that, placed, for each plan, as it asks
/// the rows that will run.
enum class Stage : uint8_t { model, plan };

/// How the row rounds that would run a node of the graph in the plan that is made.
using RoundingOf = std::function<ops::Rounding(const graph::Graph&, const graph::Node&)>;

struct Pass {
  std::string_view name;  // "fuse_qkv"
  std::string_view doc;
  Stage stage;
  Result<int> (*run)(Draft& draft, const RoundingOf& rounding);  // how many places it rewrote
};

/// In the order they run: fold_constants, split_weights, merge_low_rank, remove_dead_nodes,
/// summarise_fastmax, fuse_residual_norm, fuse_qkv, fuse_gate_up, fuse_bias_activation; for each plan
/// store_rounded.
std::span<const Pass> all_passes();
/// Of those that Options::fusion leaves out.
bool is_fusion(const Pass& pass);

struct Options {
  std::set<std::string, std::less<>> disabled;
  bool fusion = true;  // false: none of those that fuse
  bool snapshots = false;
};

struct Record {
  std::string pass;
  double milliseconds = 0;
  int rewrites = 0;
  bool disabled = false;
  graph::GraphVersion after;  // with snapshots only
};

struct Outcome {
  graph::GraphVersion graph;
  std::vector<Record> records;
};

/// Those of the model's stage. A pass whose result does not verify is an internal error that names the pass
/// and the node.
Result<Outcome> run_passes(const graph::Graph& graph, const Options& options);
/// Those of the plan's stage, on a graph that is placed. The same pointer comes back when none rewrote it.
Result<Outcome> run_plan_passes(graph::GraphVersion placed, const Options& options,
                                const RoundingOf& rounding);

}  // namespace orrery::passes
