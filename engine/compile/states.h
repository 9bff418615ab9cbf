// The states of a graph: where each begins, what it holds at the end of a step, and how much it keeps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "kernels/row.h"

namespace orrery::compile {

/// Tokens of a page: what sequences hold of states is shared, given back and cut off by pages.
inline constexpr int64_t kPageTokens = 32;

/// What a state keeps of a text, as its source node says.
///   per_token: a key and a value of each token, in the dtype of the KV cache (kernels/attention.h)
///   record: a fixed number of float32 (kernels/scan.h); each page has one, as it was after the page's last
///   token
///   summary: the same (kernels/fastmax_scan.h), but so many that a text has only few of them: where it is,
///   and some places to come back to
struct StateForm {
  enum class Kind : uint8_t { per_token, record, summary };
  /// Summaries that one text keeps at most.
  static constexpr int64_t kSummaries = 3;
  Kind kind = Kind::per_token;
  int64_t kv_heads = 0, head_dim = 0;  // per_token
  int64_t elements = 0;                // record, summary

  static StateForm per_token(int64_t kv_heads, int64_t head_dim) {
    return {Kind::per_token, kv_heads, head_dim, 0};
  }
  static StateForm record(int64_t elements) { return {Kind::record, 0, 0, elements}; }
  static StateForm summary(int64_t elements) { return {Kind::summary, 0, 0, elements}; }
  bool is_record() const { return kind == Kind::record; }
  bool is_summary() const { return kind == Kind::summary; }
  /// Of a page; 0 where it cannot be kept with keys and values of type `kv`, and of a summary.
  size_t page_bytes(DType kv) const;
  /// Of one summary; 0 of the other kinds.
  size_t summary_bytes() const { return is_summary() ? static_cast<size_t>(elements) * sizeof(float) : 0; }
  /// "8 heads of 64", "24576 numbers"
  std::string words() const;
  bool operator==(const StateForm&) const = default;
};

struct StateUse {
  NodeId source;  // the "state" node: the same id in the model graph and in the graph that passes made of it
  ValueId initial;  // its value
  ValueId last;     // the graph output that follows from it; none when the step does not change it
  StateForm form;
  std::optional<kernels::DeviceId> device = {};  // where the nodes run that touch it; none: at home
};

/// In the order of the live state nodes, which is the state index of every plan of this graph.
Result<std::vector<StateUse>> states_of(const graph::Graph& graph);

/// Bytes that all states keep for `tokens` tokens of one sequence, keys and values of `dtype`, records by
/// whole pages, summaries as many as a text has; 0 without states.
uint64_t kv_cache_bytes(const graph::Graph& graph, DType dtype, int64_t tokens);

}  // namespace orrery::compile
