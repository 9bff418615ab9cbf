// Graph to Graph rewrites before compiling. One file per pass; the manager times, can disable, verifies and
// snapshots each. A pass keeps the id of a node that it does not touch; a fused node names its origins with
// their modelled shares.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::passes {

struct Pass {
  std::string_view name;  // "fuse_qkv"
  std::string_view doc;
  Result<int> (*run)(graph::Graph& graph);  // how many places it rewrote
};

/// In the order they run: fold_constants, remove_dead_nodes, fuse_residual_norm, fuse_qkv, fuse_gate_up,
/// fuse_bias_activation.
std::span<const Pass> all_passes();

struct Options {
  std::set<std::string, std::less<>> disabled;
  bool fusion = true;  // false: only fold_constants and remove_dead_nodes
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

/// A pass whose result does not verify is an internal error that names the pass and the node.
Result<Outcome> run_passes(const graph::Graph& graph, const Options& options);

}  // namespace orrery::passes
