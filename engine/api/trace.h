// What ran when: the steps of sessions and the nodes in them as spans on one clock, and the file that
// ui.perfetto.dev and Chrome open. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::api {

/// Spans of one kind on one device; they follow each other in time and never overlap.
struct TraceTrack {
  enum class Kind : uint8_t { steps, nodes, host };  // host: what the host does for a step, and compiling
  std::string device;                                // "cpu", "cuda:0"
  Kind kind = Kind::nodes;
};

struct TraceName {
  std::string name;        // of a node its path in the fused graph; "decode", "prefill", "encode"; "launch"
  std::string op, kernel;  // of nodes only
};

struct TraceSpan {
  uint32_t track = 0, name = 0;       // indices in Trace
  int64_t begin_ns = 0, end_ns = 0;   // CLOCK_MONOTONIC
  int64_t tokens = 0, sequences = 0;  // of its step
  double bytes = 0, flops = 0;        // of this run of the node; of a step those of its nodes; else 0
  bool operator==(const TraceSpan&) const = default;
};

/// A value that goes from a node on one device to a node on another.
struct TraceFlow {
  size_t from = 0, to = 0;  // indices of spans
};

/// Of one session, oldest step first. A step lies on the track of the session's own device, its nodes, where
/// they were measured, on the tracks of those they ran on, within the step's time.
struct Trace {
  std::string title;  // "SmolLM2 135M on cuda:0"
  std::vector<TraceTrack> tracks;
  std::vector<TraceName> names;
  std::vector<TraceSpan> spans;
  std::vector<TraceFlow> flows;
  uint64_t forgotten_steps = 0;  // older ones, for which there was no room
};

/// A JSON file in Google's Trace Event Format of all the sessions on one axis: one process per device, one
/// thread a track; "X" events with kernel, op, bytes, flops and their rates; arrows where values change
/// devices; tokens/s as a counter. Times are microseconds since the first span; `otherData` has that moment's
/// CLOCK_MONOTONIC time.
std::string write_trace(const std::vector<Trace>& traces);

}  // namespace orrery::api
