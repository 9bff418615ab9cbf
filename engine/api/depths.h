// What a token takes, and what the context of its text takes, after texts of rising length: of one model in
// several versions, which read side by side.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "engine/api/session.h"

namespace orrery::api {

/// A version of a session's model.
struct DepthSide {
  bool opened = false;                 // as it was opened, without the session's edits
  std::vector<edit::Edit> edits = {};  // upon that
  friend bool operator==(const DepthSide&, const DepthSide&) = default;
};

struct DepthsRequest {
  std::vector<int64_t> depths = {};     // tokens, rising from 1 on
  std::vector<DepthSide> sides = {{}};  // the session as it is
  int64_t gen = 16;                     // tokens that each run writes at a depth
  int repeats = 5;                      // runs that count
  friend bool operator==(const DepthsRequest&, const DepthsRequest&) = default;
};

/// What a request needs, told before it is run.
struct DepthsDemand {
  int64_t made_for = 0;                      // tokens of the longest text that the model was made for
  std::vector<uint64_t> context_bytes = {};  // at the last depth, by side
  uint64_t free_bytes = 0;                   // of the device
};

struct DepthPoint {
  size_t side = 0;
  BenchResult::Depth at = {};
};

/// Which stretch is being read, or what follows it written.
struct DepthProgress {
  size_t side = 0;
  int64_t depth = 0, read = 0, to_read = 0;  // tokens; of this stretch
};

/// Called on threads of the engine; must return quickly.
struct DepthEvents {
  std::function<void(const DepthPoint&)> on_point = {};  // depth by depth, at each side by side
  std::function<void(const DepthProgress&)> on_progress = {};
};

/// Refused: depths that do not rise, an edit that cannot be made, and a text longer than the model has
/// positions for. Where positions only turn queries and keys it may be longer than the model was made for:
/// what it writes then means little, what it takes is the same. Any thread; waits.
Result<DepthsDemand> depths_demand(const Session& session, const DepthsRequest& request,
                                   std::stop_token stop);

/// Each side is a session of its own over the same weights, so that the chat's context and what is edited
/// meanwhile are left alone. What was told stays true where it is stopped. Refused besides: contexts that are
/// more than the memory that is free. Any thread; waits.
Result<void> measure_depths(const Session& session, const DepthsRequest& request, const DepthEvents& events,
                            std::stop_token stop);

}  // namespace orrery::api
