// One edit at a time over all places of a model, each measured against what is there: which layers can go,
// which tensors bear a smaller type. A sweep is a value: what is measured of it can be saved, and gone on
// with.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/session.h"

namespace orrery::api {

enum class SweepKind : uint8_t {
  bypass_layers,     // each layer left out
  quantise_tensors,  // each matrix that a linear or an embedding reads stored as another type
  zero_heads,        // each query head of each attention node giving zero
  precision,         // each linear rounding otherwise
  place_layers       // each layer on another device
};
inline constexpr SweepKind kSweepKinds[] = {SweepKind::bypass_layers, SweepKind::quantise_tensors,
                                            SweepKind::zero_heads, SweepKind::precision,
                                            SweepKind::place_layers};
std::string_view name_of(SweepKind kind);  // "bypass-layers"
/// What SweepRequest::to can be; nothing where it is "", or a device.
std::vector<std::string> choices_of(SweepKind kind);

struct SweepRequest {
  SweepKind what = SweepKind::bypass_layers;
  /// Of quantise_tensors a type, "q4_0", of precision what may be rounded to, "int8", of place_layers a
  /// device, "cuda:0"; else "".
  std::string to = {};
  std::string text = {};  // that all read; empty: one of the program's own
  friend bool operator==(const SweepRequest&, const SweepRequest&) = default;
};

/// One thing to try: where, and what it is as an edit.
struct SweepPlace {
  std::string scope;  // of the layer or the node
  edit::Edit edit;
  /// Of quantise_tensors: what the matrix takes in the file or by earlier edits, and in the type.
  struct Stored {
    uint64_t before = 0, after = 0;  // bytes; after 0: its rows do not divide into the type's blocks
    friend bool operator==(const Stored&, const Stored&) = default;
  };
  Stored stored = {};
};
/// In the order of the graph; what is bypassed is left out. Refused: a type that the edit does not take, and
/// a graph without such places.
Result<std::vector<SweepPlace>> sweep_places(const graph::Graph& graph, const SweepRequest& request);

struct SweepRow : SweepPlace {
  std::string refusal = {};  // why the edit cannot be made there; empty: it was measured
  MeasuredChange change = {};
  double ms = 0;  // that it took to measure
};

/// What was measured so far: rows of the first places.
struct Sweep {
  SweepRequest request = {};
  size_t places = 0;  // of the whole sweep; 0: it has not begun
  std::vector<SweepRow> rows = {};
  uint64_t other_bytes = 0;  // of quantise_tensors: what the weights take that are no places
  /// What numbers depend on beside the request: the model, its recipe, device, precision, ...; by name.
  std::map<std::string, std::string> conditions = {};

  bool complete() const { return places > 0 && rows.size() == places; }
};

/// Called on the thread that sweeps, row after row in the order of the places, the sweep having that row.
using SweepCallback = std::function<void(const Sweep&)>;

/// Goes on with a sweep, from where it ended. Stopped, it gives what was measured. The session's chat goes on
/// meanwhile and sees nothing of it; edits that are made during a sweep do not touch it. Refused: a sweep
/// that was begun under other conditions, with the first that differs. Any thread; blocks.
Result<Sweep> sweep(const Session& session, Sweep begun, const SweepCallback& on_row,
                    const std::stop_token& stop);

/// The edits of so many rows that change the answers least, the least first; fewer where fewer were measured.
std::vector<edit::Edit> cheapest_edits(const Sweep& sweep, size_t count);

/// A sweep as JSON, with all numbers as they are.
std::string write_sweep(const Sweep& sweep);
Result<Sweep> parse_sweep(std::string_view json);
/// Its rows as CSV: a line of names, then one a row.
std::string sweep_csv(const Sweep& sweep);
/// One of those lines, with its end; null: the names.
std::string sweep_csv_line(const SweepRow* row);

/// What all weights take after the edit, by device together.
uint64_t weight_bytes(const MeasuredChange& change);
/// How far an answer is from what it was: KL, or what the cosine lacks to 1.
double distance_of(const MeasuredChange& change);

}  // namespace orrery::api
