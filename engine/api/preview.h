// What edits would do, told before they are done.
#pragma once

#include <string>
#include <vector>

#include "engine/api/types.h"

namespace orrery::api {

/// A node of the model graph that would not be what it is.
struct NodeChange {
  enum class Kind : uint8_t { added, removed, changed };  // removed: bypassed counts, added: restored too
  Kind kind = Kind::changed;
  NodeId node;
  std::string path, op;
  std::string shape_before, shape_after;    // of the first output, "f32[tokens, 576]"; empty where it is not
  std::string device_before, device_after;  // where it runs; empty where it does not
  std::vector<std::string> differences;     // "top_k 40 -> 20", "reads layers.2.mlp.residual:dst, not ..."
  bool drawing = false;                     // only what is drawn on it changes: its frame, its note, its name
};
std::string_view name_of(NodeChange::Kind kind);  // "added", "removed", "changed"

/// Bytes on one device, as memory_demand() estimates them, with the KV cache of one full context.
struct MemoryChange {
  std::string device, name;
  MemoryUse before, after;
};

/// Microseconds of a step that writes a token, of an encoder of its last step; 0: not known yet. Nodes that
/// stay take what they were measured to take. Of the others it is estimated by what they read and the
/// machine's limits, as far from these as the measured nodes are.
struct StepTimeChange {
  double before = 0, after = 0;
  bool before_measured = false;  // otherwise an estimate, as `after` always is
  size_t unknown_nodes = 0;      // that `after` lacks: no limit is known of where they run
};

/// An edit that cannot be made, or why the graph that they make cannot run.
struct Refusal {
  std::optional<size_t> edit;  // its index; none: all of them together
  Error reason;
};

struct Preview {
  std::vector<Refusal> refusals;  // empty: the edits can be made, and the rest says what they do
  std::vector<NodeChange> nodes;
  std::vector<NodePlacement> moved;  // nodes that run elsewhere than asked
  int64_t tokens_read_again = 0;     // of the chat's context; 0: it is kept
  /// Then: the first state that becomes another, "layers.10.attention.kv_cache", and how many before it stay.
  std::string read_again_from = {};
  size_t states_before = 0;
  std::vector<MemoryChange> memory;  // by device
  StepTimeChange step_us;
};

/// How far what edits make answers from what is there now, and what either takes: both read the same text in
/// one step, and nothing is adopted.
struct MeasuredChange {
  std::optional<double> kl, top1_agreement;  // as CompareResult has them; none for encoders
  std::optional<double> cosine;              // of what an encoder gives for the text; none for others
  int64_t tokens = 0, positions = 0;         // read; distributions that were compared
  /// Of each of those, of which `kl` is the mean; the last ones of the text.
  std::vector<float> kl_by_position = {};
  /// Per token, of the tokens after the first of the positions; none for encoders and where there is one.
  std::optional<double> nll_before = {}, nll_after = {};
  /// Of steps that write one token with no context before it; none for encoders. In a sweep only what is
  /// there is run so: nodes that an edit leaves take what they took there, and those that it changes or makes
  /// as much for each byte that they move as their op took.
  std::optional<double> tokens_per_second_before = {}, tokens_per_second_after = {};
  std::vector<MemoryChange> memory = {};  // by device, as a preview estimates it
};

}  // namespace orrery::api
